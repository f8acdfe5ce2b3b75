import { buildSchema, parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { apiChanges } from '../../../generator/breaking/api/api-changes.ts';
import type { Change } from '../../../generator/breaking/change.ts';
import { isBroken } from './broken.ts';
import { randomPair } from './random-pair.ts';
import { recorded, served } from './schemas.ts';

/** Pairs in a run: BREAKING_PAIRS=1000 for a long one, BREAKING_SEED=5001 for others. */
const PAIRS = Number(process.env['BREAKING_PAIRS'] ?? 100);
const FIRST = Number(process.env['BREAKING_SEED'] ?? 1);

function changesOf(seed: number, mandatory: boolean): Change[] {
  const { before, after, documents } = randomPair(seed);
  return apiChanges({
    base: served(before),
    head: served(after),
    documents: documents.map(recorded),
    mandatory,
    renames: new Map(),
    today: '2026-11-23',
  });
}

it(`sees each change that breaks a document, and calls none breaking that breaks none: ${PAIRS} random pairs`, () => {
  const met = { broken: 0, whole: 0 };
  for (let seed = FIRST; seed < FIRST + PAIRS; seed++) {
    const { before, after, documents } = randomPair(seed);
    const [base, head] = [buildSchema(before), buildSchema(after)];
    const breaking = changesOf(seed, true).filter(({ level }) => level === 'breaking');
    const named = new Set(
      breaking.flatMap(({ usedBy = [] }) => usedBy.map(({ operation }) => operation)),
    );
    for (const text of documents) {
      expect(validate(base, parse(text)), `seed ${seed}: ${text}`).toEqual([]);
      const broken = isBroken(parse(text), base, head);
      const name = /^query (\w+)/.exec(text)![1]!;
      expect([seed, text, named.has(name)]).toEqual([seed, text, broken]);
      met[broken ? 'broken' : 'whole'] += 1;
    }
    for (const change of breaking)
      expect([seed, change.code, change.usedBy?.length ?? 0]).not.toEqual([seed, change.code, 0]);
  }
  expect(Math.min(met.broken, met.whole)).toBeGreaterThan(PAIRS / 2);
});
