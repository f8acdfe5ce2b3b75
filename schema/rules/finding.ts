import type { ASTNode } from 'graphql';
import type { FieldFact } from '../build/facts.ts';
import type { Built } from '../build/project.ts';
import type { Position, Severity } from '../diagnostic.ts';
import type { Finding } from '../parse/places.ts';

/** Judges one thing about the two files. */
export type Rule = (built: Built) => Iterable<Finding>;

/** The reason and the remedy; either may be missing. */
export interface Advice {
  readonly why?: string | undefined;
  readonly fix?: string | undefined;
}

/**
 * A finding of a rule. An error unless said otherwise.
 *
 * @example
 * finding('TABLE_CLASH', 'Two types share the table people', entity.node, { fix: '@entity(table: "persons")' })
 */
export function finding(
  code: string,
  summary: string,
  at: ASTNode | Position | undefined,
  { why, fix }: Advice = {},
  severity: Severity = 'error',
): Finding {
  return {
    code,
    severity,
    summary,
    ...(why !== undefined && { why }),
    ...(fix !== undefined && { fix }),
    at,
  };
}

/**
 * A field as it would be written with a directive added: the text to paste.
 *
 * @example
 * withDirective(field, '@relation(inverse: "author")') // 'posts: [Post!]! @relation(inverse: "author")'
 */
export function withDirective(field: FieldFact, directive: string): string {
  const args = field.args.map(({ name, type }) => `${name}: ${type.text}`).join(', ');
  return `${field.name}${args && `(${args})`}: ${field.type.text} ${directive}`;
}

/** `a, b and c`. */
export function listed(items: readonly string[], last = 'and'): string {
  return items.length < 2
    ? items.join('')
    : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`;
}
