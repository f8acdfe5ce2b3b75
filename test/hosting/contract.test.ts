import { readFileSync } from 'node:fs';
import { hostingFlows } from '../../runtime/hosting/flows/index.ts';
import { ts } from 'ts-morph';
import { expect, it } from 'vitest';
import { sourceFiles } from '../source-files.ts';

/** One test of a suite that runs on both engines: its title and its text. */
interface EngineTest {
  readonly title: string;
  readonly text: string;
}

/**
 * Where the table of quirks (what Podman and Docker answer differently) is held, row by row: the titles of tests that run
 * on both engines, or of one that reads the drivers' own source.
 */
const QUIRKS: Readonly<Record<string, readonly string[]>> = {
  'name conflict, bad name, remove running, network there or in use': [
    'gives the same word for the same failure: a name that is taken, a name that is none, a network in use',
    'removes what still runs, and tells names apart that begin alike',
  ],
  'start or stop when already so': [
    'starts what runs and stops what does not, as if nothing had been asked',
  ],
  'pull failure in a stream of 200': [
    'fails a pull that the engine answers with 200',
    'an image that is not there fails with a reason',
  ],
  'missing Dockerfile, syntax': [
    'fails a build that the engine answers with 200: no Dockerfile, a word that is none, a line that fails',
  ],
  'RUN failure': [
    'fails a build that the engine answers with 200: no Dockerfile, a word that is none, a line that fails',
    'that fails to build is never a success, and leaves the old deployment alone',
  ],
  'bad command at start': [
    'keeps why a container could not be started',
    'says which program is not there',
  ],
  'image names': [
    'names images in full, so that no registry is filled in, and keeps them by what they hold',
  ],
  'RepoDigests are not to be trusted: the id is kept': [
    'stays what it was when the tag that it was deployed by moves',
  ],
  'container state words': ['has one word for each state, and the exit code'],
  'restart loops': ['leaves restarts to us', 'gives up on what ends again and again, and says why'],
  'out of memory': [
    'tells a kill by memory from its exit code',
    'says that it was probably the memory',
  ],
  'HEALTHCHECK of the engine': [
    "runs no health check of the engine's",
    'that says how it is well is asked again and again, and started again when it is not',
  ],
  'HEALTHCHECK in a Dockerfile': [
    'with a HEALTHCHECK is asked by it, on an engine that drops it too',
  ],
  'update of limits': ['gets new limits by a new container'],
  'stats once': [
    'measures at once, and again with larger counters',
    'runs commands in an app, and measures it',
  ],
  'stats stream': ['measures at once, and again with larger counters'],
  top: [
    'use nothing that works on one engine alone: attach, top, update, distribution, a replay of events, restart policies',
  ],
  'log timestamps and since': ["go on where they were cut off, by the last event's id"],
  'logs follow on an exited or exiting container': [
    'follows a log until its container ends, and loses nothing of it',
    'lose no line when the app is stopped in the middle of a flood',
    'reads all of a log, also of one that has ended, with lines of any length',
  ],
  attach: [
    'gives a command nothing to read, and both of its streams',
    'use nothing that works on one engine alone: attach, top, update, distribution, a replay of events, restart policies',
  ],
  events: ['tells of start, end and removal in the same words, and of nothing that is not ours'],
  'events replay': ['finds out at the start what has happened without the server'],
  'default network has no names': ['gives every network names, and finds apps by them'],
  'host port 0': [
    'reads the port anew after each start',
    'is served, restarted and replaced, whatever port the engine gives',
  ],
  'name filter is a substring': ['removes what still runs, and tells names apart that begin alike'],
  'builder prune': [
    'prunes what is its own alone, where the engine cannot prune builds too',
    'only the last deployments keep their images',
  ],
  'version is slow': ['asks for the version once, however often it is asked itself'],
  distribution: [
    'use nothing that works on one engine alone: attach, top, update, distribution, a replay of events, restart policies',
  ],
  'build networks': [
    "builds without the machine's own network",
    'reaches nothing that listens on this machine alone while it is built',
  ],
  'build output in base64': [
    'builds with plain text as its output, and an id that means the content',
  ],
  'the reason of dockerode is wrong': [
    "read what failed from the engine's own words, not from the library's guess",
  ],
  'stop without a time is a kill on Podman': ['ends a stop by the app itself, within its time'],
  'volumes are found by one of two labels; archives have no owners': [
    'go with their tasks: what a killed server has left, and no volume of an app',
    'bring a deleted volume back byte by byte, with owners, modes and links',
  ],
  'hostile contexts': ['is refused * archives, by name, and nothing of them is written'],
};

const files = sourceFiles('test/hosting')
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }));
/** The calls that run a suite on every engine. */
const ON_EACH_ENGINE = ['describeEachEngine', 'describeEnginesAtOnce'];
const onEngines = files.flatMap(({ file, text }) => testsOf(file, text, ON_EACH_ENGINE));
const anywhere = files.flatMap(({ file, text }) => testsOf(file, text, ['describe']));

it('every call of the contract is made on Docker and on Podman', () => {
  const missing = hostingFlows
    .filter(({ method, path }) => !onEngines.some(({ text }) => calls(text, method, path)))
    .map(({ method, path }) => `${method} ${path}`);
  expect(missing).toEqual([]);
});

it('every quirk that Docker and Podman were seen to have has its test', () => {
  const known = new Set([...onEngines, ...anywhere].map(({ title }) => title));
  const missing = Object.entries(QUIRKS).flatMap(([quirk, titles]) =>
    titles.filter((title) => !known.has(title)).map((title) => `${quirk}: ${title}`),
  );
  expect(missing).toEqual([]);
  // The rest reads the drivers' source, or what needs no engine.
  const real = new Set(onEngines.map(({ title }) => title));
  expect(
    Object.entries(QUIRKS)
      .filter(([, titles]) => !titles.some((title) => real.has(title)))
      .map(([quirk]) => quirk),
  ).toEqual(['top', 'distribution', 'the reason of dockerode is wrong']);
});

it('no suite of an engine is left out by a condition', () => {
  expect(
    files
      .filter(({ text }) =>
        /describe(EachEngine|EnginesAtOnce)\.|\bit\.only\(|describe\.only\(/.test(text),
      )
      .map(({ file }) => file),
  ).toEqual([]);
});

/** The tests in calls of these functions of one file, with what the suite itself holds as part of their text. */
function testsOf(file: string, text: string, suites: readonly string[]): EngineTest[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: EngineTest[] = [];
  const visit = (node: ts.Node, within: ts.Node | null): void => {
    const call = ts.isCallExpression(node) ? node : null;
    const name = call?.expression.getText(source) ?? '';
    const here = call && suites.includes(name) ? node : within;
    if (call && here && /^it(\.skipIf\(.*\))?$/.test(name))
      found.push({ title: titleOf(call.arguments[0]), text: here.getText(source) });
    ts.forEachChild(node, (child) => visit(child, here));
  };
  visit(source, null);
  return found;
}

/** What a template fills in is `*`. */
function titleOf(node: ts.Expression | undefined): string {
  if (node && ts.isStringLiteralLike(node)) return node.text;
  return node && ts.isTemplateExpression(node)
    ? node.head.text + node.templateSpans.map(({ literal }) => `*${literal.text}`).join('')
    : '';
}

/** Whether a suite asks this path by this method: as `api('GET', '/api/apps/shop')`, or as an address alone for streams. */
function calls(text: string, method: string, path: string): boolean {
  const segments = path
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/\'"`?]+' : segment));
  const address = `${segments.join('/')}(?=['"\`?])`;
  return (
    new RegExp(`api\\('${method}', ['"\`]${address}`).test(text) ||
    (method === 'GET' &&
      new RegExp(`(stream\\(|\\$\\{server\\.url\\}|of \\[.*)['"\`]?${address}`).test(text))
  );
}
