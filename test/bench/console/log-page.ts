/**
 * The page `Logs` under 100,000 lines at 5,000 a second, in Chromium.
 *
 * `TEST_CHROMIUM=/usr/bin/chromium node test/bench/console/log-page.ts` · `--lines 100000`
 */
import { parseArgs } from 'node:util';
import { chromium as browsers } from 'playwright-core';
import { type LogFigures, measureLogs } from '../../console/log-figures.ts';
import { OPERATOR, startConsole } from '../../console/server.ts';
import type { ConsoleFigure } from './first-load.ts';

/** The figures `100,000 log lines at 5,000/s`. */
export async function measureLogPage(
  lines: number,
  executablePath: string,
): Promise<ConsoleFigure[]> {
  const server = await startConsole();
  const browser = await browsers.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.goto(`${server.url}/console/logs`);
    await page.getByRole('radio', { name: 'Operator' }).check();
    await page.getByLabel('Password').fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const write = (number: number) =>
      server.log.info({ user: number % 97, ms: 12.5 }, `line ${number} of a busy server`);
    return figuresOf(await measureLogs(page, { lines, rate: 5000, write }));
  } finally {
    await browser.close();
    await server.close();
  }
}

const figuresOf = ({ longestTask, elements, heap, search }: LogFigures): ConsoleFigure[] => [
  { what: 'longest task while lines come', value: longestTask, unit: 'ms', most: 100 },
  { what: 'elements in the log', value: elements, unit: '', most: 2000 },
  { what: 'heap of the page', value: heap / 1e6, unit: 'MB', most: 150 },
  { what: 'search after it', value: search, unit: 'ms', most: 200 },
];

if (import.meta.main) {
  const { values } = parseArgs({ options: { lines: { type: 'string', default: '100000' } } });
  const executable = process.env['TEST_CHROMIUM'] ?? 'chromium';
  for (const { what, value, unit, most } of await measureLogPage(Number(values.lines), executable))
    process.stdout.write(`${what}: ${value.toFixed(1)} ${unit} (at most ${most})\n`);
}
