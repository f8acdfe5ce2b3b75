import { describe, expect, it } from 'vitest';
import { databases } from '../graphql/harness.ts';
import { compareRuleSets, EXECUTIONS } from './rule-sets.ts';

/** More of them: LEAK_SCHEMAS=200 LEAK_SEED=1000 npx vitest run test/leak */
const SETS = Number(process.env['LEAK_SCHEMAS'] ?? 2);
const SEED = Number(process.env['LEAK_SEED'] ?? 1);
const kinds = databases.flatMap((database) =>
  EXECUTIONS.map((execution) => ({ database, execution })),
);

describe.each(kinds)('random rules and callers on $database, $execution', (kind) => {
  it('tell nothing that they forbid, in any answer', { timeout: 300_000 }, async () => {
    const compared = await compareRuleSets({ ...kind, seed: SEED, sets: SETS });
    expect(compared.sets).toBe(SETS);
    expect(compared.answered).toBeGreaterThan(compared.queries / 4);
    expect(compared.events).toBeGreaterThan(0);
  });
});
