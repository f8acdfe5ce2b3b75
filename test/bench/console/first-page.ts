import { chromium as browsers } from 'playwright-core';
import { OPERATOR, startConsole } from '../../console/server.ts';
import { median } from '../measure.ts';
import type { ConsoleFigure } from './first-load.ts';

/** The figures `first page after sign-in`, each in a browser that knows nothing of the server yet. */
export async function measureFirstPage(
  rounds: number,
  executablePath: string,
): Promise<ConsoleFigure[]> {
  const server = await startConsole();
  const browser = await browsers.launch({ executablePath, args: ['--no-sandbox'] });
  const heading: number[] = [];
  const figures: number[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      const page = await (await browser.newContext()).newPage();
      await page.goto(`${server.url}/console`);
      await page.getByRole('radio', { name: 'Operator' }).check();
      await page.getByLabel('Password').fill(OPERATOR);
      const signedIn = page.waitForResponse((each) => each.url().endsWith('/api/auth/login'));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await signedIn;
      // The password is checked slowly on purpose: the time runs from the answer on.
      const began = performance.now();
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      heading.push(performance.now() - began);
      await page.getByRole('img', { name: /^Requests/ }).waitFor();
      figures.push(performance.now() - began);
      await page.context().close();
    }
  } finally {
    await browser.close();
    await server.close();
  }
  return [
    { what: 'first page, its heading', value: median(heading), unit: 'ms', most: 500 },
    { what: 'first page, its figures', value: median(figures), unit: 'ms', most: 1000 },
  ];
}
