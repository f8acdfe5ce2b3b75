import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';

/** What the page `Logs` takes while lines come. */
export interface LogFigures {
  /** Lines that the page has at the end, and how many of them came each second. */
  readonly lines: number;
  readonly perSecond: number;
  /** Milliseconds of the longest task in the page; 0 when none took 50 ms. */
  readonly longestTask: number;
  /** The most elements in the log. */
  readonly elements: number;
  /** Bytes of the page's JavaScript, the most that were seen. */
  readonly heap: number;
  /** Milliseconds from a text in the search box to the lines that have it. */
  readonly search: number;
}

interface Flood {
  readonly lines: number;
  /** Lines a second. */
  readonly rate: number;
  /** Logs a line on the server. */
  write(number: number): void;
}

const EVERY = 20;

/**
 * Lets a server log many lines while its page `Logs` is open.
 *
 * @example await measureLogs(page, { lines: 100_000, rate: 5000, write: (n) => server.log.info(`line ${n}`) })
 */
export async function measureLogs(page: Page, { lines, rate, write }: Flood): Promise<LogFigures> {
  await page.getByRole('log', { name: 'Log lines' }).waitFor();
  await page.evaluate(WATCH);
  const protocol = await page.context().newCDPSession(page);
  const most = { elements: 0, heap: 0 };
  const look = async () => {
    const elements = (await page.evaluate(ELEMENTS)) as number;
    const { usedSize } = await protocol.send('Runtime.getHeapUsage');
    Object.assign(most, {
      elements: Math.max(most.elements, elements),
      heap: Math.max(most.heap, usedSize),
    });
  };
  const began = performance.now();
  let looked = began;
  for (let written = 0; written < lines;) {
    const due = Math.min(lines, Math.ceil(((performance.now() - began) / 1000) * rate));
    while (written < due) write((written += 1));
    if (performance.now() - looked > 1000) {
      await look();
      looked = performance.now();
    }
    await sleep(EVERY);
  }
  const seconds = (performance.now() - began) / 1000;
  // The policy of the page lets `waitForFunction` evaluate no text.
  while (!((await page.evaluate(SHOWN)) as string).includes(`line ${lines}`)) await sleep(EVERY);
  await look();
  const longestTask = (await page.evaluate('window.longestTask')) as number;
  const search = (await page.evaluate(searchFor(`line ${Math.floor(lines / 2)}`))) as number;
  await look();
  return { lines, perSecond: Math.round(lines / seconds), longestTask, search, ...most };
}

const ELEMENTS = `document.querySelectorAll('[role="log"] *').length`;
const SHOWN = `document.querySelector('[role="log"]').textContent`;

/** Watches tasks of 50 ms and more. */
const WATCH = `
  window.longestTask = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longestTask = Math.max(window.longestTask, duration);
  }).observe({ type: 'longtask' });
`;

/** Fills the box and waits, in the page itself, until only lines with the text are shown. */
const searchFor = (text: string) => `new Promise((resolve) => {
  const box = document.querySelector('input[type="search"][data-search]');
  const began = performance.now();
  box.value = ${JSON.stringify(text)};
  box.dispatchEvent(new InputEvent('input', { bubbles: true }));
  const look = () => {
    const rows = [...document.querySelectorAll('[role="log"] .log-text')].map((row) => row.textContent);
    if (rows.length > 0 && rows.every((row) => row.includes(${JSON.stringify(text)})))
      resolve(performance.now() - began);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})`;
