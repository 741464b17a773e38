"""English verbs in their plain form, as orders and requests begin with them."""

BASE_VERBS = frozenset(
    """
    accept access add adjust alert allow analyse analyze announce answer apply approve archive arrange ask
    assign attach audit automate back backup bcc benchmark book break build buy bypass calculate call cancel capture cc
    change charge check choose cite clarify clean clear clone close collect combine commit compare compile
    complete compose configure confirm connect consider consult contact continue convert copy correct cover
    create cut debug decide define delete deliver deploy describe design determine develop diagnose disable
    discuss display document double-check download downgrade draft draw drop edit email enable ensure enter
    escalate estimate evaluate examine exchange execute expand explain explore export expose extend extract
    fetch figure file fill filter find finish fix flag follow force format forward generate get give handle help
    hide hold identify implement import improve include increase index inform initialize insert inspect install
    integrate investigate invite invoke issue join keep label launch leave let limit link list load locate lock
    log look lower mail maintain make manage map mark measure mention merge migrate mock modify monitor mount
    move name notify obtain offer open optimise optimize order organise organize overwrite pass paste pause pay
    perform pick pin ping place plan plot post prefer prepare present preserve prevent print prioritize process produce
    profile prompt propose protect provide prove publish pull purchase push put query quote read rebase reboot
    rebuild recommend record recover redirect reduce refactor refer refund reformat refresh register reject
    release reload remind remove rename render reorder repair repeat replace reply report reproduce request
    require reroute research reschedule reserve reset resolve respond restart restore retrieve retry return
    reuse revert review revise revoke rewrite roll rotate round run sanitize save scale scan schedule search
    secure select send separate serve set share ship show sign simplify skip solve sort speak specify split
    squash stage start state stick stop store structure submit suggest summarise summarize support suspend swap
    switch sync tag take tell terminate test track train transfer transform translate treat trigger trim
    troubleshoot try turn type undo uninstall unlock unsubscribe update upgrade upload use validate verify view
    visualise visualize wait walk warn watch work wrap write
    """.split()  # noqa: SIM905 - a page of words reads better than a list of them
)
# What follows "always" and "never" where they give no order.
NOT_ORDERED = frozenset(
    """
    a an the this that these those my your his her our their it he she we they i you been had was were is are am
    got went saw knew thought felt met heard made said told came took gave found left seen done gone too so very
    more less most as at in on up down out off over under for from to of with by about into than then there here
    where when who what why how and or but if because not no just quite really well good great nice happy sad
    fun easy hard available ready able best better worse enough ever even again would could should will can may
    might must did does didn't couldn't wouldn't hurts quit boring have wrong right sure fully end cool
    """.split()  # noqa: SIM905 - as above
)
