import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sqliteDatabase } from './database.ts';
import { assertAnswered, drive, requestBytes } from './load.ts';
import { median, ratio } from './measure.ts';
import type { Aside } from './report.ts';

/** The same query where the schema has 10 types and where it has 3,000. */
export async function growth(): Promise<Aside[]> {
  const database = await sqliteDatabase();
  const few = await startGrown(10, database.url);
  const many = await startGrown(3000, database.url);
  const servers = [few, many];
  const query = '{ posts(limit: 20) { id title author { id name } } }';
  const requests = [requestBytes({ query })];
  for (const { port } of servers) await assertAnswered(port, query);
  for (const { port } of servers) await drive(port, requests, 15_000);
  for (let round = 0; round < 9; round += 1) {
    for (const { port, cpu, samples } of servers) {
      const before = await cpu();
      await drive(port, requests, 3_000);
      samples.push(((await cpu()) - before) / 3_000);
    }
  }
  for (const { close } of servers) close();
  await database.drop();
  const more = ratio(many.samples, few.samples) - 1;
  return [{ what: '20 posts with their authors, with 10 and with 3,000 types', seen: `${median(few.samples).toFixed(1)} and ${median(many.samples).toFixed(1)} µs, ${(more * 100).toFixed(0)} % more`, goal: 'below 10 %', met: more < 0.1 }];
}

interface Grown {
  readonly port: number;
  readonly samples: number[];
  cpu(): Promise<number>;
  close(): void;
}

async function startGrown(types: number, databaseUrl: string): Promise<Grown> {
  const child = fork(fileURLToPath(new URL('grown.ts', import.meta.url)), [String(types), databaseUrl], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const answer = <T>() => new Promise<T>((resolve) => child.once('message', (message) => resolve(message as T)));
  const { port } = await answer<{ port: number }>();
  return {
    port,
    samples: [],
    cpu: () => {
      child.send('cpu');
      return answer<number>();
    },
    close: () => child.disconnect(),
  };
}
