import { buildSchema } from 'graphql';
import { apiChanges } from '../../../generator/breaking/api/api-changes.ts';
import { randomPair } from '../../generator/breaking/random-pair.ts';
import { served } from '../../generator/breaking/schemas.ts';

/**
 * What graphql-inspector calls breaking, beside `generator breaking` without a list of documents:
 * over the random pairs of the test in `test/generator/breaking`. It is installed in test/bench.
 */
const PAIRS = Number(process.env['BREAKING_PAIRS'] ?? 100);
const FIRST = Number(process.env['BREAKING_SEED'] ?? 1);
const INSPECTOR: string = '@graphql-inspector/core';
const { diff } = (await import(INSPECTOR)) as {
  diff(before: unknown, after: unknown): Promise<readonly TheirChange[]>;
};

interface TheirChange {
  readonly path?: string;
  readonly type: string;
  readonly criticality: { readonly level: string };
}

const met = { same: 0, ours: [] as string[], theirs: [] as string[] };
for (let seed = FIRST; seed < FIRST + PAIRS; seed++) {
  const { before, after } = randomPair(seed);
  const ours = apiChanges({
    base: served(before),
    head: served(after),
    documents: [],
    mandatory: false,
    renames: new Map(),
    today: '2026-11-23',
  }).flatMap(({ level, coordinate }) => (level === 'breaking' ? [asTheirs(coordinate)] : []));
  const changes = await diff(buildSchema(before), buildSchema(after));
  const theirs = changes.flatMap(({ criticality, path = '' }) =>
    criticality.level === 'BREAKING' ? [path] : [],
  );
  met.same += ours.filter((path) => theirs.includes(path)).length;
  met.ours.push(...ours.filter((path) => !theirs.includes(path)).map((path) => `${seed} ${path}`));
  met.theirs.push(
    ...theirs.filter((path) => !ours.includes(path)).map((path) => `${seed} ${path}`),
  );
}
console.log(
  `breaking beside graphql-inspector, ${PAIRS} random pairs from seed ${FIRST}: ${met.same} breaking changes by both, by us alone ${met.ours.length} (at most 0) ${met.ours.join(', ')}, by it alone ${met.theirs.length} (at most 0) ${met.theirs.join(', ')}`,
);

/** `Query.posts(limit:)` is `Query.posts.limit` there. */
function asTheirs(coordinate: string): string {
  return coordinate.replace(/\((\w+):\)$/, '.$1');
}
