import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Hundreds of tests start servers and command lines: with compiled code kept from one to the next, such a file takes
// half of the CPU time. A variable of the process reaches the workers and what they start.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

/** These wait for container engines, backoffs and models most of the time: four of them use two cores well. */
const waiting = ['test/hosting/**/*.test.ts', 'test/models/**/*.test.ts'];

// One instance of graphql: vite alone would take its "module" build, and Node, for what it loads itself, another.
const ssr = { resolve: { conditions: ['node', 'module-sync', 'development'] } };

const test = {
  testTimeout: 60_000,
  hookTimeout: 300_000,
  // A second, which is usual, says more of how busy the machine is than of what is waited for.
  expect: { poll: { timeout: 15_000 } },
  pool: 'forks' as const,
  // Real engines, mail servers and clocks: in CI a test that fails by chance is asked again before it stops a landing.
  retry: process.env['CI'] ? 2 : 0,
};

const engines = {
  ...test,
  name: 'engines',
  include: waiting,
  maxWorkers: 4,
  sequence: { groupOrder: 1 },
};

/** Servers and child processes keep a core busy, so only two files run at once. */
const others = {
  ...test,
  name: 'others',
  include: ['test/**/*.test.ts'],
  exclude: ['**/node_modules/**', 'test/bench/**', ...waiting],
  maxWorkers: 2,
  sequence: { groupOrder: 2 },
};

export default defineConfig({
  test: {
    projects: [
      { ssr, test: engines },
      { ssr, test: others },
    ],
  },
});
