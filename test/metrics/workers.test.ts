import { expect, it, vi } from 'vitest';
import { end, run } from '../server/program.ts';
import { query, TOKEN, valueOf } from './figures.ts';

it('sums all workers, and what one had counted that ended stays', async () => {
  const program = run(
    `import { createServer } from '@twofold/runtime';
     import { pid } from 'node:process';
     await createServer().schema('type Query { pid: Int! }', 'name: many\\nobservability: { metrics: true }')
       .plugin({ name: 'pid', resolvers: { Query: { pid: () => pid } } }).serve('127.0.0.1:0');`,
    { WORKERS: '2', DATABASE_URL: 'file:many.db', METRICS_TOKEN: TOKEN, LOG_LEVEL: 'info' },
  );
  try {
    const url = await program.listening;
    const seen = new Map<number, number>();
    const ask = async () => {
      const { data } = await query(url, 'query Pid { pid }');
      seen.set(data.pid, (seen.get(data.pid) ?? 0) + 1);
    };
    const asked = () => [...seen.values()].reduce((sum, count) => sum + count, 0);
    const counted = () => valueOf(url, 'graphql_operations_total', { name: 'Pid' });
    await vi.waitFor(async () => {
      await ask();
      expect(seen.size).toBe(2);
    }, 20_000);
    const began = performance.now();
    for (let left = 10; left > 0; left -= 1)
      expect([await ask(), await counted()]).toEqual([undefined, asked()]);
    // A worker that ends within five seconds of its start ends the server.
    await new Promise((resolve) => setTimeout(resolve, began + 5500 - performance.now()));
    process.kill([...seen.keys()][0]!, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 200));
    await vi.waitFor(async () => {
      await ask();
      expect(seen.size).toBe(3);
    }, 30_000);
    expect(await counted()).toBe(asked());
  } finally {
    await end(program);
  }
});
