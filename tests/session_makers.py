"""Short factories for sessions of events, as agents record them."""

from hmxgraph.protocol.events import Event
from hmxgraph.protocol.timestamps import iso

START = 1_773_457_200_000_000
DEPLOY = ("kubectl get namespace staging", "kubectl apply -f staging.yaml", "kubectl rollout status deploy/web")


def event(session, sequence, event_type, content, *, tenant="acme", agent="agent-1", metadata=None, **optional):
    """One event; the sequence number is also its time in seconds."""
    return Event(
        hmx_version="HMX-1.0",
        event_id=f"{session}/{sequence}",
        event_type=event_type,
        agent_id=agent,
        tenant_id=tenant,
        session_id=session,
        timestamp=iso(START + sequence * 1_000_000),
        sequence=sequence,
        content=content,
        metadata=metadata or {},
        **optional,
    )


class Script:
    """Writes a session event by event."""

    def __init__(self, session, *, tenant="acme", agent="agent-1"):
        self.session = session
        self.events = []
        self._fixed = {"tenant": tenant, "agent": agent}

    def add(self, event_type, content, **optional):
        """Add an event of any type."""
        self.events.append(event(self.session, len(self.events), event_type, content, **self._fixed, **optional))
        return self

    def user(self, text):
        """Add a user message."""
        return self.add("message", {"role": "user", "text": text})

    def agent(self, text):
        """Add an agent message."""
        return self.add("message", {"role": "assistant", "text": text})

    def call(self, tool, result=None, *, error=None, **arguments):
        """Add a tool call with its result; with *error* it fails with this message, and an error event follows."""
        call_id = f"{self.session}-{len(self.events)}"
        self.add("tool_call", {"tool_name": tool, "arguments": arguments, "call_id": call_id})
        called = self.events[-1].event_id
        outcome = {"value": f"Error: {error}"} if error else (result or {"value": "done"})
        self.add("tool_result", {"tool_name": tool, "call_id": call_id, "result": outcome, "success": error is None})
        if error:
            content = {"error_type": "ToolError", "message": f"Error: {error}", "stack": "", "recoverable": True}
            self.add("error", content, correlation_id=called)
        return self

    def run(self, line, *, error=None):
        """Add a command line run through a shell tool."""
        return self.call("exec", error=error, command=line)

    def feedback(self, signal, target=None):
        """Add feedback."""
        target = target or self.events[-1].event_id
        return self.add("feedback", {"signal": signal, "target_event_id": target, "comment": ""})


def deployment(session, *, request="Deploy the staging environment", lines=DEPLOY, signal="positive", **fixed):
    """A deployment from request to feedback."""
    script = Script(session, **fixed).user(request)
    for line in lines:
        script.run(line)
    return (script.feedback(signal) if signal else script).events


def repaired_deployment(session, *, signal="positive", **fixed):
    """A deployment whose namespace is missing, created, and applied again."""
    script = Script(session, **fixed).user("Deploy the staging environment")
    script.run("kubectl apply -f staging.yaml", error="namespace staging not found")
    script.run("kubectl create namespace staging").run("kubectl apply -f staging.yaml")
    return script.run("kubectl rollout status deploy/web").feedback(signal).events


def order_session(session, change, *, request=None, lookup="find_user_by_email", signal="positive", **fixed):
    """A customer's request about an order, from identification to the change."""
    script = Script(session, **fixed).user(request or f"Please {change} my order")
    script.agent("May I have your e-mail address?").user("It is ann@example.com")
    script.call(lookup, {"user_id": "ann_lee_1234"}, email="ann@example.com")
    script.call("get_order_details", {"order_id": "#W1234567", "status": "pending"}, user_id="ann_lee_1234")
    script.agent("Shall I go on?").user("Yes, please")
    script.call(f"{change}_order", {"status": "done"}, order_id="#W1234567")
    return script.feedback(signal).events


def service_work(session, numbers, **fixed):
    """The events with these *numbers* of an endless session of requests, each with a call and its result."""
    for number in numbers:
        match number % 3:
            case 0:
                text = f"Check the health of service {number % 997} and restart it"
                yield event(session, number, "message", {"role": "user", "text": text}, **fixed)
            case 1:
                tool = ("get_health", "restart", "read_log")[number % 7 % 3]
                call = {"tool_name": tool, "call_id": f"c{number}", "arguments": {"service": f"service-{number % 997}"}}
                yield event(session, number, "tool_call", call, **fixed)
            case _:
                failed = number % 11 == 0
                result = {"error": "connection refused"} if failed else {"value": f"healthy since {number}"}
                answer = {"call_id": f"c{number - 1}", "result": result, "success": not failed}
                yield event(session, number, "tool_result", answer, **fixed)
