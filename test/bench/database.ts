/**
 * What the database chapter promises, as ratios: npm run bench:database
 *
 * TEST_POSTGRES_URL names the server, ROWS the size of the large table (1,000,000).
 */
import { measureAdopted } from './database/adopted.ts';
import { measureCopy, measureImport } from './database/moving.ts';
import { measureOnline } from './database/online-migrations.ts';

const admin = process.env['TEST_POSTGRES_URL'];
if (!admin)
  throw new Error('TEST_POSTGRES_URL is not set: eval "$(npx node test/engines/start.ts)"');
const rows = Number(process.env['ROWS'] ?? 1_000_000);

/** No write may wait for longer than this while a table is changed online. */
const LONGEST = 1_000;

const ms = (time: number) => `${Math.round(time)} ms`;

console.log(`Changes of a table of ${rows} rows under 200 writes/s: the longest wait of a write`);
const waited = await measureOnline(admin, rows);
for (const { change, online, plain, onlineWait, plainWait, writes } of waited)
  console.log(
    `  ${change.padEnd(12)}  online ${ms(onlineWait)} (change ${ms(online)}, ${writes} writes), plain ${ms(plainWait)} (change ${ms(plain)}), ratio ${(onlineWait / plainWait).toFixed(2)}`,
  );
if (waited.some(({ onlineWait }) => onlineWait >= LONGEST)) process.exitCode = 1;

/** `db copy` writes, reads back and compares; an import of 300 tables takes this many seconds. */
const MOST_COPY = 5;
const MOST_IMPORT = 2;

const { ours, copy, memory } = await measureCopy(rows);
console.log(
  `db copy of ${rows} rows: ${ms(ours)}, COPY out and in: ${ms(copy)}, ratio ${(ours / copy).toFixed(2)} (at most ${MOST_COPY}), ${Math.round(memory)} MB`,
);
const { tables, cpu } = await measureImport();
console.log(
  `import db of ${tables} tables: ${cpu.toFixed(2)} s of CPU, ratio ${(cpu / MOST_IMPORT).toFixed(2)} of ${MOST_IMPORT} s`,
);
if (ours / copy > MOST_COPY || cpu > MOST_IMPORT) process.exitCode = 1;

/** Reads of a table that others made, and by a key of two columns, beside those of a table of ours. */
const MOST_ADOPTED = 1.1;
const MOST_COMPOSITE = 1.2;

const reads = await measureAdopted();
const [adopted, composite] = [
  reads['adopted']! / reads['ours']!,
  reads['composite']! / reads['ours']!,
];
console.log(
  `reads of an adopted table: ratio ${adopted.toFixed(2)} (at most ${MOST_ADOPTED}), by a composite key: ${composite.toFixed(2)} (at most ${MOST_COMPOSITE})`,
);
if (adopted > MOST_ADOPTED || composite > MOST_COMPOSITE) process.exitCode = 1;
