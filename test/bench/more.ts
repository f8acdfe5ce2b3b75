/**
 * What the tables of `run.ts` do not show: `node test/bench/more.ts [cold] [memory] [growth] [workers] [lists] [rules] [postgraphile]`, all of them without a name.
 * `--requests 1000000` for a longer look at memory.
 */
import { parseArgs } from 'node:util';
import { coldStart } from './cold-start.ts';
import { growth } from './growth.ts';
import { lists } from './lists.ts';
import { memory } from './memory.ts';
import { numbers } from './numbers.ts';
import { besidePostGraphile } from './postgraphile.ts';
import { type Aside, printAsides } from './report.ts';
import { rules } from './rules.ts';
import { workerScaling } from './worker-scaling.ts';

export const asides: Readonly<Record<string, (requests?: number) => Promise<Aside[]>>> = {
  cold: coldStart,
  memory,
  growth,
  workers: workerScaling,
  lists,
  rules,
  numbers,
  postgraphile: besidePostGraphile,
};

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { requests: { type: 'string' } },
    allowPositionals: true,
  });
  for (const [name, aside] of Object.entries(asides)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    printAsides(await (values.requests ? aside(Number(values.requests)) : aside()));
  }
}
