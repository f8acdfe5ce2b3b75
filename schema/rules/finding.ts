import type { ASTNode } from 'graphql';
import type { EntityFact, FieldFact } from '../build/facts.ts';
import type { Built } from '../build/built.ts';
import type { Position, Severity } from '../diagnostic.ts';
import type { Change, ProposedFix } from '../parse/changes.ts';
import type { Finding } from '../parse/places.ts';

/** Checks one thing about the two inputs. */
export type Rule = (built: Built) => Iterable<Finding>;

/** The reason and the fix; either may be missing. */
export interface Advice {
  readonly why?: string | undefined;
  /**
   * The fix as a sentence; with `changes`, a function that makes the sentence from the changed
   * lines.
   */
  readonly fix?: Finding['fix'] | undefined;
  /** The fix as changes of the schema, which belong together. */
  readonly changes?: readonly Change[] | undefined;
  /** Several fixes to choose from, the advised one first. */
  readonly mends?: readonly ProposedFix[] | undefined;
}

/** What a finding says: an error, unless `severity` says otherwise. */
interface Told extends Advice {
  readonly summary: string;
  readonly severity?: Severity;
}

/**
 * A finding of a rule.
 *
 * @example
 * finding('TABLE_CLASH', entity.node, { summary: 'Two types share the table people', changes: [onType(entity, 'entity', { table: '"persons"' })] })
 */
export function finding(
  code: string,
  at: ASTNode | Position | undefined,
  { summary, why, fix, changes, mends = changes && [{ changes }], severity = 'error' }: Told,
): Finding {
  return {
    code,
    severity,
    summary,
    ...(why !== undefined && { why }),
    ...(fix !== undefined && { fix }),
    ...(mends !== undefined && { mends }),
    at,
  };
}

/**
 * Adds a directive to a field. The rest of the field is not changed.
 *
 * @example
 * onField(field, 'relation', { inverse: '"author"' }) // posts: [Post!]! @relation(inverse: "author")
 */
export function onField(
  { field, node }: FieldFact,
  name: string,
  args: Readonly<Record<string, string>> = {},
): Change {
  return { kind: 'directive', on: field.astNode ?? node!, name, args };
}

/** Adds a directive to a type, or changes an existing one, which may be on an extension. */
export function onType(
  { definitions, node }: EntityFact,
  name: string,
  args: Readonly<Record<string, string>>,
): Change {
  const holder = definitions.find(({ directives }) =>
    directives?.some((directive) => directive.name.value === name),
  );
  return { kind: 'directive', on: holder ?? definitions[0] ?? node!, name, args };
}

/** Changes only the type of a field. */
export function retyped({ field, node }: FieldFact, text: string): Change {
  const { astNode } = field;
  return { kind: 'replace', node: astNode?.type ?? node!, text, within: astNode ?? node! };
}

/** Removes an argument of a directive, or the whole directive if it has no other argument. */
export function withoutArgument(
  { field, node }: FieldFact,
  name: string,
  of = 'relation',
): Change[] {
  const directive = field.astNode?.directives?.find((each) => each.name.value === of);
  const argument = directive?.arguments?.find((each) => each.name.value === name);
  if (!directive || !argument) return [];
  const only = directive.arguments?.length === 1;
  return [{ kind: 'remove', node: only ? directive : argument, within: field.astNode ?? node! }];
}

/**
 * Removes a directive. Never offered for an access rule: the user has to move it, because only they
 * know its purpose.
 */
export function removed(
  directive: ASTNode & { readonly name?: { readonly value: string } },
): Change[] {
  return directive.name?.value === 'auth' ? [] : [{ kind: 'remove', node: directive }];
}

/** A text as a GraphQL literal. */
export const quoted = (text: string): string => JSON.stringify(text);

/** `a, b and c`. */
export function listed(items: readonly string[], last = 'and'): string {
  return items.length < 2
    ? items.join('')
    : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`;
}
