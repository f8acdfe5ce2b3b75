import { createDatabase, postgresUrl } from '../engines/available.ts';
import { end } from '../server/program.ts';
import { complaintsOf, fuzz } from './fuzz/fuzz.ts';
import { projectOf, serve } from './fuzz/server.ts';

/** The long run: `node test/graphql/run-fuzz.ts [seconds] [seed] [sqlite | postgres]`, ten minutes when nothing is said. */
const [seconds = '600', seed = '1', kind = postgresUrl ? 'postgres' : 'sqlite'] =
  process.argv.slice(2);
const database =
  kind === 'postgres' ? await createDatabase() : { url: 'file:app.db', drop: async () => {} };
const program = serve(Number(seed), database.url);
try {
  const url = await program.listening;
  const { shots, answers, memory } = await fuzz({
    url,
    project: projectOf(Number(seed)),
    seed: Number(seed),
    milliseconds: Number(seconds) * 1000,
  });
  const [, second, last] = memory;
  const grown = (last?.heapUsed ?? 0) / (second?.heapUsed ?? 1);
  console.log(
    JSON.stringify(
      {
        seed: Number(seed),
        database: kind,
        seconds: Number(seconds),
        shots,
        answers,
        memory: memory.map(({ rss, heapUsed, ...rest }) => ({
          rss: `${(rss / 2 ** 20).toFixed(1)} MiB`,
          heapUsed: `${(heapUsed / 2 ** 20).toFixed(1)} MiB`,
          ...rest,
        })),
      },
      null,
      1,
    ),
  );
  const complaints = complaintsOf(program.output());
  if (complaints.length > 0)
    throw new TypeError(`the log complains:\n${complaints.slice(0, 10).join('\n')}`);
  if (grown > 1.2)
    throw new TypeError(`the heap grew by ${Math.round((grown - 1) * 100)} % in the last third`);
  if (program.process.exitCode !== null)
    throw new TypeError(`the server ended with ${program.process.exitCode}`);
  console.log('well');
} catch (error) {
  console.error(error, program.output().slice(-3000));
  process.exitCode = 1;
} finally {
  await end(program);
  await database.drop();
}
