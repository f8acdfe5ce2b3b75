import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { readAll } from './.ci/results.ts';
import { promiseFiles } from './test/promises.ts';
import { SkippedTests } from './test/skipped.ts';

// Hundreds of tests start servers and command lines: with compiled code kept from one to the next, such a file takes
// half of the CPU time. A variable of the process reaches the workers and what they start.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled');

// A registry that stalls held npm for five minutes, longer than a test may take: ask again after 20 s. Large letters,
// as tests that start npm as a shell does remove what npm itself sets (npm_…).
process.env['NPM_CONFIG_FETCH_TIMEOUT'] ??= '20000';
process.env['NPM_CONFIG_FETCH_RETRIES'] ??= '5';
// A dozen tests install the same packages: those that are there already need not be asked for again.
process.env['NPM_CONFIG_PREFER_OFFLINE'] ??= 'true';

const files = globSync('test/**/*.test.ts', { cwd: import.meta.dirname });
const text = (file: string) => readFileSync(pathOf(file), 'utf8');
const says = (file: string, word: string) => text(file).includes(word);

/** What a file of tests says that leaves out, without a word, what it cannot reach. */
const ASKS_FOR_SERVICES =
  /postgresUrl|\bdatabases\b|describeEach|describeWith|engines\/|'chromium'|playwright/;

/**
 * `.ci/run` begins with `npm test`, without services, and tells with PROMISES_TESTED where its results are. A file that
 * missed no service needs not run again; a file that skipped a test, or that leaves out what it cannot reach, runs in full.
 */
const done = complete(process.env['PROMISES_TESTED']);

/**
 * These wait for container engines, backoffs and models most of the time: four of them use two cores well. Files of
 * hosting that name no engine are as all others.
 */
const waiting = files.filter(
  (file) =>
    file.startsWith('test/models/') ||
    (file.startsWith('test/hosting/') && says(file, '/engines/')),
);

/** These open pages. Chromium ends its requests whenever a container's network appears or goes, so they run last. */
const browsing = files.filter(
  (file) => !waiting.includes(file) && (says(file, "'chromium'") || says(file, 'playwright')),
);

/** These take minutes. Started last, one of them would run on alone, on an idle machine. */
const LONGEST = [
  'hosting/killed',
  'hosting/deploy-command',
  'hosting/zero-downtime',
  'hosting/deploy-rules',
  'hosting/supervision',
  'hosting/build-settings',
  'hosting/host-install',
  'hosting/dockerfiles',
  'hosting/swarm',
  'hosting/runs/release',
  'hosting/move-killed',
  'models/running',
  'hosting/engine-quirks',
  'release/dry-run',
  'journey/journey',
  'journey/managers',
  'journey/newcomer',
  'month/postgres',
  'month/sqlite',
  'docs/examples',
].map((name) => pathOf(`test/${name}.test.ts`));

/** Starts them first; the rest stays in the order that vitest gives. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.indexOf(moduleId);
      return index === -1 ? LONGEST.length : index;
    };
    const group = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    return sorted.toSorted((a, b) => group(a) - group(b) || rank(a) - rank(b));
  }
}

const test = {
  // These only end what hangs: a busy machine may be ten times slower than a quiet one.
  testTimeout: 180_000,
  hookTimeout: 300_000,
  // A second, which is usual, says more of how busy the machine is than of what is waited for.
  expect: { poll: { timeout: 60_000 } },
  pool: 'forks' as const,
  // Real engines, mail servers and clocks: in CI a test that fails by chance is asked once more before it stops a landing.
  retry: process.env['CI'] ? 1 : 0,
  // Node itself loads the sources, as it does for a user: nothing is transformed, and there is one instance of graphql.
  experimental: { viteModuleRunner: false, nodeLoader: false },
};

const engines = {
  ...test,
  name: 'engines',
  include: waiting,
  maxWorkers: 4,
  sequence: { groupOrder: 1 },
};

/**
 * Servers and child processes keep a core busy most of the time: three of them use two cores. A process runs many
 * files, as to load the runtime anew for each took a second of CPU time: a file restores what it changes of the process.
 */
const others = {
  ...test,
  isolate: false,
  name: 'others',
  include: ['test/**/*.test.ts'],
  exclude: ['**/node_modules/**', 'test/bench/**', ...waiting, ...browsing, ...done],
  maxWorkers: 3,
  sequence: { groupOrder: 2 },
};

const pages = {
  ...others,
  name: 'pages',
  include: browsing,
  exclude: [],
  sequence: { groupOrder: 3 },
};

/** `npm test`: what README.md promises, with npm alone, quickly, and without trying again. */
const promised = {
  ...others,
  name: 'promises',
  include: [...promiseFiles],
  exclude: [],
  retry: 0,
  globalSetup: 'test/temporary-folder.ts',
};

/** Imports are resolved as Node does it: with vite's condition "development", some packages are TypeScript. */
const plugins = [
  {
    name: 'conditions-of-node',
    configResolved: ({ ssr }: { ssr: object }) =>
      void Object.assign(ssr, { resolve: { conditions: [] } }),
  },
];

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new SkippedTests()],
    projects: (process.env['TESTS'] === 'promises' ? [promised] : [engines, others, pages]).map(
      (project) => ({ plugins, test: project }),
    ),
  },
});

function pathOf(file: string): string {
  return join(import.meta.dirname, file);
}

/** The files of promises that another run of them would add nothing to. */
function complete(results: string | undefined): readonly string[] {
  if (!results) return [];
  const skipped = (readAll([results]) ?? [])
    .filter(({ assertionResults }) => assertionResults.some(({ status }) => status !== 'passed'))
    .map(({ name }) => name);
  return promiseFiles.filter(
    (file) => !skipped.includes(pathOf(file)) && !ASKS_FOR_SERVICES.test(text(file)),
  );
}
