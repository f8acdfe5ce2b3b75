import { auth } from '@twofold/auth';
import { webConsole } from '@twofold/console/server';
import { createServer } from '@twofold/runtime';
import { chromium as browsers } from 'playwright-core';
import type { ConsoleFigure } from './first-load.ts';

const COLUMNS = Array.from({ length: 19 }, (_, at) => `c${at}`);
const SDL = `
  type User { id: ID! email: String! @unique }
  type Wide @auth(allow: [PUBLIC]) { id: ID! ${COLUMNS.map((name) => `${name}: String!`).join(' ')} }
  type Query { wides(limit: Int, offset: Int): [Wide!]! wide(id: ID!): Wide }
`;
const MANIFEST = 'name: shop\napi: { rest: true, access: public }\nauth: {}\nconsole: {}\n';

const OPERATOR = 'the operator knows this';
const SETTINGS = {
  DATABASE_URL: ':memory:',
  LOG_LEVEL: 'silent',
  JWT_SECRET: 'a secret of the benchmark that is long enough',
  HOST_PASSWORD: OPERATOR,
  RATE_LIMIT_ENABLED: 'false',
};

/** Scrolls from the first row to the last in two seconds, and notes tasks and frames. */
const SCROLL = `(async () => {
  const grid = document.querySelector('[role="grid"]');
  let box = grid;
  while (box && !(box.scrollHeight > box.clientHeight + 100 && /auto|scroll/.test(getComputedStyle(box).overflowY))) box = box.parentElement;
  box ??= document.scrollingElement;
  let longest = 0, most = 0;
  new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) longest = Math.max(longest, duration); }).observe({ entryTypes: ['longtask'] });
  const frames = [];
  const began = performance.now();
  let last = began;
  while (last - began < 2000) {
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - last);
    last = now;
    box.scrollTop = ((now - began) / 2000) * (box.scrollHeight - box.clientHeight);
    most = Math.max(most, grid.querySelectorAll('[role="row"]').length);
  }
  await new Promise((done) => setTimeout(done, 300));
  return { longest, most, smooth: (100 * frames.slice(1).filter((each) => each <= 17.5).length) / (frames.length - 1) };
})()`;

/** The figures `10,000 rows, 20 columns`. */
export async function measureGrid(rows: number, executablePath: string): Promise<ConsoleFigure[]> {
  const row = Object.fromEntries(COLUMNS.map((name) => [name, `value of ${name}`]));
  const server = await createServer()
    .schema(SDL, MANIFEST)
    .with(auth(), webConsole())
    .plugin({
      name: 'rows',
      hooks: {
        start: async ({ store }) => {
          for (let at = 0; at < rows; at += 500)
            await store.db
              .insertInto('wides')
              .values(Array.from({ length: Math.min(500, rows - at) }, () => row))
              .execute();
        },
      },
    })
    .start('127.0.0.1:0', { env: SETTINGS });
  const browser = await browsers.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(`${server.url}/console/data/wides`);
    await page.getByLabel('Password').fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('grid', { name: 'Wide' }).getByText('value of c0').first().waitFor();
    const seen = (await page.evaluate(SCROLL)) as Record<'longest' | 'most' | 'smooth', number>;
    return [
      { what: 'rows in the document', value: seen.most, unit: '', most: 200 },
      { what: 'longest task while rows are scrolled', value: seen.longest, unit: 'ms', most: 100 },
      { what: 'frames later than 17 ms', value: 100 - seen.smooth, unit: '%', most: 5 },
    ];
  } finally {
    await browser.close();
    await server.close();
  }
}
