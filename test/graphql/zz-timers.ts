import { createDatabase } from '../engines/available.ts';
import { end } from '../server/program.ts';
import { fuzz, memoryOf } from './fuzz/fuzz.ts';
import { projectOf, serve } from './fuzz/server.ts';
const database = await createDatabase();
const program = serve(3, database.url);
try {
  const url = await program.listening;
  for (let round = 0; round < 2; round++) {
    await fuzz({ url, project: projectOf(3), seed: 3 + round, milliseconds: 20_000 });
    for (const wait of [0, 3000, 12_000]) { await new Promise((r) => setTimeout(r, wait)); const { timers, sockets } = await memoryOf(url); console.log(round, wait, { timers, sockets }); }
  }
console.log(program.output().split('\n').filter((l) => l.includes('TIMERS')).at(-1));
} finally { await end(program); await database.drop(); }
