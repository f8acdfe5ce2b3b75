import { defineConfig } from 'vitest/config';

/** Servers and child processes make tests slower than units; files run one after the other on two cores. */
export default defineConfig({
  // One instance of graphql: vite alone would take its "module" build, and Node, for what it loads itself, another.
  ssr: { resolve: { conditions: ['node', 'module-sync', 'development'] } },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/bench/**'],
    testTimeout: 60_000,
    hookTimeout: 300_000,
    // A second, which is usual, says more of how busy the machine is than of what is waited for.
    expect: { poll: { timeout: 15_000 } },
    pool: 'forks',
    maxWorkers: 2,
    // Real engines, mail servers and clocks: in CI a test that fails by chance is asked again before it stops a landing.
    retry: process.env['CI'] ? 2 : 0,
  },
});
