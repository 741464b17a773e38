// A small second implementation of HMX-E documents and of all hashes, to try the conformance kit on: it reads one
// request per line and writes one answer per line, as the kit's README says. Whatever else it is asked is unsupported.
import { createHash, createPrivateKey, sign } from "node:crypto";
import { createInterface } from "node:readline";

// Strict JSON: I-JSON names and numbers, no lone surrogates, at most 64 levels.

class Malformed extends Error {}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  document() {
    const value = this.value(0);
    this.blank();
    if (this.at !== this.text.length) throw new Malformed("not_json");
    return value;
  }

  blank() {
    while (" \t\n\r".includes(this.text[this.at] ?? "x")) this.at++;
  }

  take(sign) {
    this.blank();
    if (this.text[this.at] !== sign) throw new Malformed("not_json");
    this.at++;
  }

  has(sign) {
    this.blank();
    if (this.text[this.at] !== sign) return false;
    this.at++;
    return true;
  }

  value(depth) {
    this.blank();
    if (depth >= 64 && "{[".includes(this.text[this.at])) throw new Malformed("too_deep");
    if (this.has("{")) return this.object(depth);
    if (this.has("[")) return this.array(depth);
    if (this.has('"')) return this.string();
    for (const [word, value] of [["true", true], ["false", false], ["null", null]]) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    return this.number();
  }

  object(depth) {
    const object = Object.create(null);
    if (this.has("}")) return object;
    do {
      this.take('"');
      const name = this.string();
      if (name in object) throw new Malformed("duplicate_key");
      this.take(":");
      object[name] = this.value(depth + 1);
    } while (this.has(","));
    this.take("}");
    return object;
  }

  array(depth) {
    const array = [];
    if (this.has("]")) return array;
    do array.push(this.value(depth + 1));
    while (this.has(","));
    this.take("]");
    return array;
  }

  string() {
    const end = /(?:[^"\\\u0000-\u001f]|\\.)*"/y;
    end.lastIndex = this.at;
    const found = end.exec(this.text);
    if (!found) throw new Malformed("not_json");
    this.at = end.lastIndex;
    let value;
    try {
      value = JSON.parse('"' + found[0]);
    } catch {
      throw new Malformed("not_json");
    }
    if (!value.isWellFormed()) throw new Malformed("lone_surrogate");
    return value;
  }

  number() {
    const form = /-?(?:NaN|Infinity|(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
    form.lastIndex = this.at;
    const found = form.exec(this.text);
    if (!found) throw new Malformed("not_json");
    this.at = form.lastIndex;
    const value = Number(found[0]);
    if (!Number.isFinite(value)) throw new Malformed("not_finite");
    return value;
  }
}

// Canonical JSON (RFC 8785): JavaScript's own spelling of numbers and strings, names by UTF-16.

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value === 0 ? 0 : value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

const bytes = (value) => Buffer.byteLength(canonical(value), "utf8");
const sha256 = (value) => createHash("sha256").update(canonical(value), "utf8").digest("hex");

// Events (HMX-E): a rule is a path, a clause and a condition; all broken ones are told at once.

const isText = (value) => typeof value === "string";
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isCount = (value) => Number.isInteger(value) && value >= 0;
const STANDARD = new Set(
  ("message tool_call tool_result file_edit test_run command_exec browser_action api_result decision error " +
    "observation state_change feedback").split(" "),
);
const CUSTOM = /^x-[A-Za-z0-9_.]+-[A-Za-z0-9_.-]+$/;
const REQUIRED = {
  hmx_version: ["HMX-E 6.1", (value) => isText(value) && /^HMX-[0-9]+\.[0-9]+$/.test(value) && !value.endsWith("\n")],
  event_id: ["HMX-E 6.2", (value) => isText(value) && value !== ""],
  event_type: ["HMX-E 2.1", (value) => isText(value) && value !== ""],
  agent_id: ["HMX-E 2.1", (value) => isText(value) && value !== ""],
  tenant_id: ["HMX-E 2.1", (value) => isText(value) && value !== ""],
  session_id: ["HMX-E 2.1", (value) => isText(value) && value !== ""],
  timestamp: ["HMX-E 6.3", isTimestamp],
  sequence: ["HMX-E 6.4", isCount],
  content: ["HMX-E 6.7", isObject],
  metadata: ["HMX-E 6.8", isObject],
};
const OPTIONAL = {
  trace_id: ["HMX-E 2.2", isText],
  correlation_id: ["HMX-E 2.2", isText],
  parent_event_id: ["HMX-E 2.2", isText],
  source: ["HMX-E 2.2", isText],
  provenance_ref: ["HMX-E 2.2", isText],
  salience: ["HMX-E 6.5", (value) => typeof value === "number" && value >= 0 && value <= 1],
  embeddings: ["HMX-E 6.6", (value) => Array.isArray(value) && value.length > 0],
  tags: ["HMX-E 6.9", Array.isArray],
  ttl_seconds: ["HMX-E 6.10", isCount],
};
const PARTS = {
  embeddings: ["HMX-E 6.6", (value) => typeof value === "number", 4096],
  tags: ["HMX-E 6.9", isText, 64],
};
const SIZES = { "": 1024 * 1024, content: 512 * 1024, metadata: 64 * 1024 };

function isTimestamp(value) {
  const form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/;
  const found = isText(value) && form.exec(value);
  if (!found) return false;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number);
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || hour > 23 || minute > 59) return false;
  if (second < 60) return true;
  const [hours, minutes] = found[7] === "Z" ? [0, 0] : found[7].slice(1).split(":").map(Number);
  const offset = (found[7][0] === "-" ? -1 : 1) * (60 * hours + minutes);
  return second === 60 && (((60 * hour + minute - offset) % 1440) + 1440) % 1440 === 1439;
}

function faultsOf(event) {
  const faults = [];
  const fault = (path, clause) => faults.push({ path, clause });
  for (const [name, [clause, holds]] of Object.entries(REQUIRED)) {
    if (!(name in event) || !holds(event[name])) fault(`$.${name}`, clause);
  }
  for (const [name, [clause, holds]] of Object.entries(OPTIONAL)) {
    if (name in event && !holds(event[name])) fault(`$.${name}`, clause);
  }
  for (const name of Object.keys(event)) {
    if (!(name in REQUIRED) && !(name in OPTIONAL)) fault(`$.${name}`, "HMX-E 5");
  }
  for (const [name, [clause, holds, most]] of Object.entries(PARTS)) {
    if (!Array.isArray(event[name])) continue;
    event[name].forEach((part, place) => holds(part) || fault(`$.${name}[${place}]`, clause));
    if (event[name].length > most) fault(`$.${name}`, "HMX-E 11");
  }
  for (const [name, most] of Object.entries(SIZES)) {
    const value = name ? event[name] : event;
    if (value !== undefined && bytes(value) > most) fault(name ? `$.${name}` : "$", "HMX-E 11");
  }
  unsafeIntegers(event, "$", fault);
  return faults;
}

function unsafeIntegers(value, path, fault) {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e30) {
    fault(path, "RFC 8785 3.1");
  }
  if (Array.isArray(value)) value.forEach((part, place) => unsafeIntegers(part, `${path}[${place}]`, fault));
  else if (isObject(value)) for (const name of Object.keys(value)) unsafeIntegers(value[name], `${path}.${name}`, fault);
}

const CONTENT = {
  message: { role: (value) => ["user", "assistant", "system"].includes(value), text: isText },
  tool_call: { tool_name: isText, arguments: isObject, call_id: isText },
  tool_result: { tool_name: isText, success: (value) => typeof value === "boolean" },
  decision: { chosen_option: isText, confidence: (value) => value >= 0 && value <= 1 },
  error: { message: isText, recoverable: (value) => typeof value === "boolean" },
  feedback: { signal: (value) => ["positive", "negative", "correction"].includes(value) },
};

function warningsOf(event) {
  const warnings = [];
  if (!STANDARD.has(event.event_type) && !CUSTOM.test(event.event_type)) warnings.push("$.event_type");
  for (const [name, holds] of Object.entries(CONTENT[event.event_type] ?? {})) {
    if (name in event.content && !holds(event.content[name])) warnings.push(`$.content.${name}`);
  }
  return warnings;
}

function read({ kind, text }) {
  if (kind !== "event") return { unsupported: true };
  let event;
  try {
    event = new Reader(text).document();
  } catch (error) {
    if (error instanceof Malformed) return { malformed: error.message };
    throw error;
  }
  const refused = faultsOf(event);
  return refused.length ? { refused } : { accepted: { document: event, warnings: warningsOf(event) } };
}

// Hashes and signatures.

const HASHED = (
  "hmx_version fingerprint_version artifact_summaries behavioral_patterns graph_digest semantic_summary " +
  "context_priors compression_tier source_event_count source_artifact_count compiler_state"
).split(" ");

function hash({ of, value }) {
  if (of !== "fingerprint_hash") return { hash: sha256(value) };
  return { hash: sha256(Object.fromEntries(HASHED.filter((name) => name in value).map((name) => [name, value[name]]))) };
}

function signed({ envelope, private_key }) {
  const { signature, ...rest } = envelope;
  const message = Buffer.from(canonical(rest), "utf8");
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.from(private_key, "hex")]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return {
    value: sign(null, message, key).toString("hex"),
    signed_sha256: createHash("sha256").update(message).digest("hex"),
  };
}

const ANSWERS = { read, hash, sign: signed };
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const answer = ANSWERS[request.op]?.(request) ?? { unsupported: true };
  process.stdout.write(JSON.stringify(answer) + "\n");
}
