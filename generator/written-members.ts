import { basename } from 'node:path';
import type { SourceText } from '@twofold/schema';

const MEMBER = /^([ \t]*)(?:async\s+)?['"]?(\w+)['"]?\s*[(:,}]/gm;
const FIRST = /export const resolvers\b[^=]*=\s*\{[ \t]*(?:(?:async\s+)?['"]?(\w+)['"]?\s*[(:,}])?/;

/**
 * The fields that the user's resolver files implement, by coordinate. Read without a syntax tree,
 * because every run needs them: members are the names with the smallest indent after `resolvers`.
 *
 * @example
 * writtenMembers([{ file: 'src/resolvers/Query.ts', text }]) // Set { 'Query.feed' }
 */
export function writtenMembers(resolvers: readonly SourceText[]): ReadonlySet<string> {
  return new Set(
    resolvers.flatMap(({ file, text }) =>
      membersOf(text).map((name) => `${basename(file, '.ts')}.${name}`),
    ),
  );
}

function membersOf(text: string): string[] {
  const start = FIRST.exec(text);
  if (!start) return [];
  const lines = [...text.slice(start.index + start[0].length).matchAll(MEMBER)];
  const least = Math.min(...lines.map(([, indent]) => indent!.length).filter(Boolean));
  const members = lines.filter(([, indent]) => indent!.length === least);
  return [...(start[1] ? [start[1]] : []), ...members.map(([, , name]) => name!)];
}
