import { type ASTNode, valueFromASTUntyped, visit } from 'graphql';
import type { Run } from '../operation-run.ts';

/** Texts that must not be shown. */
export type Secrets = ReadonlySet<string>;

const HIDDEN = '***';

/** Names of arguments, fields and claims whose values are secrets. */
const NAME =
  /pass(?:word|phrase|code|wd)|secret|token|credential|authorization|cookie|private_?key|api_?key|^pin$|^otp$|^cvc$|^ssn$/i;

/** A shorter text is hidden only where it is the whole value. */
const PART = 4;

/** The secrets in the variables, in the document, and in the claims of the caller. */
export function secretsOf(
  { operation, context: { principal } }: Run,
  variables: Readonly<Record<string, unknown>>,
): Secrets {
  const found = new Set<string>();
  collect(variables, false, found);
  if (principal.kind === 'user') collect(principal.extend, false, found);
  const named = ({ name, value }: { name: { value: string }; value: ASTNode }) => {
    if (NAME.test(name.value)) collect(valueFromASTUntyped(value as never, variables), true, found);
  };
  visit(operation.document, { Argument: named, ObjectField: named });
  found.delete('');
  return new Set([...found].flatMap(formsOf));
}

/** The forms of a text inside JSON and inside a `like` pattern. */
const formsOf = (text: string): readonly string[] => [
  text,
  JSON.stringify(text).slice(1, -1),
  text.replace(/[\\%_]/g, '\\$&'),
];

function collect(value: unknown, secret: boolean, found: Set<string>): void {
  if (typeof value === 'string' || typeof value === 'number') {
    if (secret) found.add(String(value));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value))
    collect(inner, secret || NAME.test(name), found);
}

/** A parameter without secrets, of the same type. */
export function hide(value: unknown, secrets: Secrets): unknown {
  if (secrets.size === 0) return value;
  if (Array.isArray(value)) return value.map((each) => hide(each, secrets));
  if (typeof value === 'number') return secrets.has(String(value)) ? 0 : value;
  if (typeof value !== 'string') return value;
  if (secrets.has(value)) return HIDDEN;
  return [...secrets].reduce(
    (text, secret) => (secret.length < PART ? text : text.replaceAll(secret, HIDDEN)),
    value,
  );
}
