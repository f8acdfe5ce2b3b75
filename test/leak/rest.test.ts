import { describe, expect, it } from 'vitest';
import { databases } from '../graphql/harness.ts';
import { compareRestRuleSets } from './rest-rule-sets.ts';

/** More of them: LEAK_SCHEMAS=200 LEAK_SEED=1000 npx vitest run test/leak/rest.test.ts */
const SETS = Number(process.env['LEAK_SCHEMAS'] ?? 2);
const SEED = Number(process.env['LEAK_SEED'] ?? 1);
const kinds = databases.flatMap((database) =>
  (['planned', 'unplanned'] as const).map((execution) => ({ database, execution })),
);

describe.each(kinds)('random rules and callers in REST on $database, $execution', (kind) => {
  it('tell nothing that they forbid, in any answer', { timeout: 300_000 }, async () => {
    const statuses = await compareRestRuleSets({ ...kind, seed: SEED, sets: SETS });
    expect([...statuses.keys()]).toContain(200);
    expect((statuses.get(401) ?? 0) + (statuses.get(403) ?? 0)).toBeGreaterThan(0);
  });
});
