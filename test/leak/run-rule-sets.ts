import { compareRuleSets, EXECUTIONS } from './rule-sets.ts';

/**
 * The long run: `node test/leak/run-rule-sets.ts 5000 [first seed]`. Shapes take turns on what there is: with
 * TEST_POSTGRES_URL every fourth is on PostgreSQL. Fewer operations under more rules find more. It prints what it did and
 * stops at the first difference.
 */
const [wanted = '500', first = '100000'] = process.argv.slice(2);
const SETS_OF_SHAPE = 50;
const databases = process.env['TEST_POSTGRES_URL']
  ? (['sqlite', 'sqlite', 'sqlite', 'postgres'] as const)
  : (['sqlite'] as const);

const sums = new Map<string, Record<string, number>>();
for (let done = 0; done < Number(wanted);) {
  const seed = Number(first) + done;
  const turn = Math.floor(seed / SETS_OF_SHAPE);
  const database = databases[turn % databases.length]!;
  const execution = EXECUTIONS[Math.floor(turn / databases.length) % EXECUTIONS.length]!;
  const sets = Math.min(SETS_OF_SHAPE, Number(wanted) - done);
  const counts = await compareRuleSets({ database, execution, seed, sets, queries: 8, writes: 6 });
  done += sets;
  const kind = `${database} ${execution}`;
  const sum = sums.get(kind) ?? {};
  for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  sums.set(kind, sum);
  const { user, system } = process.cpuUsage();
  const cpuSeconds = Math.round((user + system) / 1e6);
  console.log(
    JSON.stringify({
      done,
      seeds: [Number(first), seed + sets - 1],
      cpuSeconds,
      ...Object.fromEntries(sums),
    }),
  );
}
