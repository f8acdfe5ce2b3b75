import { basename } from 'node:path';
import type { Sources } from './files.ts';

const MEMBER = /^([ \t]*)(?:async\s+)?['"]?(\w+)['"]?\s*[(:,}]/gm;
const FIRST = /export const resolvers\b[^=]*=\s*\{[ \t]*(?:(?:async\s+)?['"]?(\w+)['"]?\s*[(:,}])?/;

/** `ctx.publish('alarm', …)`, which feeds the field of Subscription. */
const PUBLISHED = /\bpublish\(\s*['"`](\w+)['"`]/g;

/**
 * The fields that the user's files implement or feed, by coordinate. Read without a syntax tree,
 * because every run needs them: members are the names with the smallest indent after `resolvers`.
 *
 * @example
 * writtenMembers({ resolvers: [{ file: 'src/resolvers/Query.ts', text }], otherUserTexts: [] }) // Set { 'Query.feed' }
 */
export function writtenMembers({
  resolvers,
  otherUserTexts,
}: Pick<Sources, 'resolvers' | 'otherUserTexts'>): ReadonlySet<string> {
  const members = resolvers.flatMap(({ file, text }) =>
    membersOf(text).map((name) => `${basename(file, '.ts')}.${name}`),
  );
  const published = [...resolvers, ...otherUserTexts].flatMap(({ text }) =>
    [...text.matchAll(PUBLISHED)].map(([, name]) => `Subscription.${name}`),
  );
  return new Set([...members, ...published]);
}

function membersOf(text: string): string[] {
  const start = FIRST.exec(text);
  if (!start) return [];
  const lines = [...text.slice(start.index + start[0].length).matchAll(MEMBER)];
  const least = Math.min(...lines.map(([, indent]) => indent!.length).filter(Boolean));
  const members = lines.filter(([, indent]) => indent!.length === least);
  return [...(start[1] ? [start[1]] : []), ...members.map(([, , name]) => name!)];
}
