import { applyEdits } from '@twofold/schema';
import type { Diagnostic, Fix } from '@twofold/schema';
import { Kind, Lexer, parse, print, Source, TokenKind, visit } from 'graphql';
import type { ASTNode } from 'graphql';

/** The text after a fix. */
export function applied(text: string, { edits }: Fix): string {
  return applyEdits(text, edits);
}

/**
 * Everything that a schema says, one line each: descriptions, arguments with their defaults, types, directives, comments.
 * Two texts that differ in one thing differ in one line.
 */
export function saidBy(text: string): string[] {
  const said = comments(text).map((comment) => `comment ${comment}`);
  for (const definition of parse(text).definitions) collect(definition, '', said);
  return said.sort();
}

function comments(text: string): string[] {
  const lexer = new Lexer(new Source(text));
  const found: string[] = [];
  for (let { token } = lexer; token.kind !== TokenKind.EOF;) {
    const next = lexer.advance();
    for (let at = token.next; at && at !== next; at = at.next)
      if (at.kind === TokenKind.COMMENT) found.push(at.value);
    token = next;
  }
  return found;
}

/** What a node says besides its parts, and then its parts. */
function collect(node: ASTNode, path: string, said: string[]): void {
  const at = `${path}/${node.kind}:${'name' in node && node.name ? print(node.name) : ''}`;
  said.push(at);
  const parts = node as unknown as Readonly<Record<string, unknown>>;
  for (const [key, value] of Object.entries(parts)) {
    if (key === 'loc' || key === 'kind' || key === 'name') continue;
    for (const part of (Array.isArray(value) ? value : [value]) as unknown[]) {
      if (!isNode(part)) continue;
      if (LEAVES.has(key)) said.push(`${at} ${key} ${print(part)}`);
      else collect(part, at, said);
    }
  }
}

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && 'kind' in value;

const LEAVES = new Set([
  'description',
  'type',
  'defaultValue',
  'directives',
  'interfaces',
  'types',
]);

/** What `before` says and `after` does not. */
export function lost(before: string, after: string): string[] {
  const rest = saidBy(after);
  return saidBy(before).filter((line) => {
    const at = rest.indexOf(line);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

/** `RELATION_AMBIGUOUS User.posts`: what stays the same of a finding when lines move and others are mended. */
export function identities(text: string, findings: readonly Diagnostic[]): string[] {
  const names = namesByPlace(text);
  return findings.map(
    ({ code, at, summary }) => `${code} ${names.get(`${at.line}:${at.column}`) ?? summary}`,
  );
}

function namesByPlace(text: string): Map<string, string> {
  const names = new Map<string, string>();
  const path: string[] = [];
  visit(parse(text), {
    enter(node) {
      if (node.kind === Kind.NAME && node.loc) {
        const { line, column } = node.loc.startToken;
        names.set(`${line}:${column}`, [...path.slice(0, -1), node.value].join('.'));
      } else if ('name' in node && node.name) path.push(print(node.name));
    },
    leave(node) {
      if (node.kind !== Kind.NAME && 'name' in node && node.name) path.pop();
    },
  });
  return names;
}
