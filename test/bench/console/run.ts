/**
 * `npm run bench:console`: the figures of the console beside their limits. Needs TEST_CHROMIUM; a busy machine spoils the times.
 *
 * `-- --lines 100000` · `--rows 10000` · `--rounds 15`
 */
import { parseArgs } from 'node:util';
import { machineOf } from '../report.ts';
import { measureFirstPage } from './first-page.ts';
import { measureGrid } from './grid.ts';
import { type ConsoleFigure, measureFirstLoad } from './first-load.ts';
import { measureIdle } from './idle.ts';
import { measureLogPage } from './log-page.ts';

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '100000' },
    rows: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '15' },
  },
});
const browser = process.env['TEST_CHROMIUM'] ?? 'chromium';
const rounds = Number(values.rounds);

const measures: readonly (() => Promise<ConsoleFigure[]>)[] = [
  measureFirstLoad,
  () => measureFirstPage(5, browser),
  () => measureLogPage(Number(values.lines), browser),
  () => measureGrid(Number(values.rows), browser),
  () => measureIdle({ rounds, slice: 2000, starts: 9 }),
];

console.log(`${machineOf()}\n\n| Figure | Measured | Limit | |\n|---|---:|---:|---|`);
let missed = 0;
for (const measure of measures)
  for (const { what, value, unit, most } of await measure()) {
    if (value > most) missed += 1;
    const verdict = value <= most ? 'met' : 'not met';
    console.log(`| ${what} | ${value.toFixed(1)} ${unit} | ${most} | ${verdict} |`);
  }
process.exitCode = missed > 0 ? 1 : 0;
