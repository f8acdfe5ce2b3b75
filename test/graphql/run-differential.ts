import { compareAnswers, type Comparison } from './differential.ts';

/**
 * The long run: `node test/graphql/run-differential.ts 200000 [first seed]`. Half of it is planned, half unplanned; with
 * TEST_POSTGRES_URL half of each is on PostgreSQL. It prints what it did and stops at the first difference.
 */
const [wanted = '2000', first = '100000'] = process.argv.slice(2);
const QUERIES = 1000;
const databases = process.env['TEST_POSTGRES_URL']
  ? (['sqlite', 'postgres'] as const)
  : (['sqlite'] as const);
const KINDS = databases.flatMap((database) =>
  (['planned', 'unplanned'] as const).flatMap((execution) =>
    [0, 0, 10].map((holes) => ({ database, execution, holes })),
  ),
);

const sums = new Map<string, { operations: number; statements: number; failed: number }>();
let done = 0;
for (let seed = Number(first); done < Number(wanted); seed++) {
  const kind = KINDS[(seed - Number(first)) % KINDS.length] as (typeof KINDS)[number];
  const comparison: Comparison = {
    seed,
    queries: Math.min(QUERIES, Number(wanted) - done),
    ...kind,
  };
  const { operations, statements, failed } = await compareAnswers(comparison);
  const key = `${kind.database} ${kind.execution}${kind.holes > 0 ? ' with missing rows' : ''}`;
  const sum = sums.get(key) ?? { operations: 0, statements: 0, failed: 0 };
  sums.set(key, {
    operations: sum.operations + operations,
    statements: sum.statements + statements,
    failed: sum.failed + failed,
  });
  done += operations;
  if (seed % 20 === 0 || done >= Number(wanted)) {
    const { user, system } = process.cpuUsage();
    console.log(
      JSON.stringify({
        done,
        seeds: [Number(first), seed],
        cpuSeconds: Math.round((user + system) / 1e6),
        ...Object.fromEntries(sums),
      }),
    );
  }
}
