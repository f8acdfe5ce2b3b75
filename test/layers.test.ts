import { describe, expect, it } from 'vitest';
import {
  exportedNames,
  type Import,
  importedNames,
  importsOf,
  sourceFiles,
} from './source-files.ts';

/** Who may import whom, by folder. A name in brackets is for types only. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  schema: [],
  runtime: ['schema'],
  templates: ['schema', '(runtime)'],
  generator: ['templates', 'schema', '(runtime)'],
  examples: ['runtime'],
  site: ['generator', 'templates', 'schema', 'runtime'],
};

/**
 * Packages of the runtime. A capability reaches the core by the names of its package only, never by a path. What is in
 * angle brackets is loaded when it is needed, and its types are not used.
 */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  core: ['<database>'],
  database: ['core'],
  auth: ['core'],
  hosting: ['core', '<database>'],
  models: ['core', '(hosting)'],
  console: ['core'],
};

/** Inside the core, a layer may import those listed, and files of its own layer. */
const CORE: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  config: ['errors'],
  context: ['errors', 'config'],
  store: ['errors', 'config', 'context', 'database-package'],
  plugin: ['errors', 'config', 'context', 'store', '(module)', '(routes)'],
  'own-context': ['errors', 'config', 'context', 'store', 'model'],
  module: [
    '(errors)',
    '(audit)',
    '(config)',
    '(context)',
    '(store)',
    '(http)',
    '(metrics)',
    '(recorder)',
    '(traces)',
  ],
  audit: ['errors', 'context', 'store', 'http', '(module)'],
  traces: ['errors', 'store', 'http'],
  metrics: ['errors', 'config', 'context', 'store', 'http', '(module)'],
  recorder: ['config', 'metrics'],
  capability: ['errors', '(module)'],
  http: ['errors', 'config', 'context', 'own-context', 'store', '(module)'],
  model: ['errors'],
  routes: ['errors', 'config', 'context', 'store', 'http', 'model', '(module)'],
  jobs: [
    'errors',
    'config',
    'context',
    'own-context',
    'store',
    'http',
    'model',
    'routes',
    'metrics',
    '(traces)',
    '(module)',
  ],
  data: ['errors', 'config', 'context', 'store', '(module)'],
  'data-api': ['data', 'errors', 'context', 'store'],
  'schema-names': ['data'],
  graphql: [
    'data-api',
    'schema-names',
    'data',
    'errors',
    'config',
    'context',
    'own-context',
    'store',
    'http',
    '(metrics)',
    '(traces)',
    '(module)',
    '(plugin)',
  ],
  rest: [
    'graphql',
    'routes',
    'data',
    'errors',
    'config',
    'context',
    'store',
    'http',
    '(module)',
    '(plugin)',
  ],
  mcp: ['graphql', 'data', 'errors', 'config', 'context', 'store', 'http', '(module)'],
};

/** Inside `core/data`, a room may import those listed, and the files beside the rooms. */
const DATA: Readonly<Record<string, readonly string[]>> = {
  sql: ['(access)'],
  words: ['sql'],
  access: ['words', 'sql'],
  filter: ['access', 'words', 'sql'],
  search: ['sql'],
  rows: ['filter', 'access', 'search', 'sql'],
  figures: ['rows', 'filter', 'access', 'search', 'words', 'sql'],
  select: ['figures', 'rows', 'filter', 'access', 'search', 'sql'],
  write: ['select', 'filter', 'access', 'sql', '(changes)'],
  changes: [],
  scalars: ['sql'],
};

/**
 * Inside hosting, a room may import those listed, which all stand above it here: no arrow runs
 * upwards. `flows` is above all parts: what joins them (`hosting.ts` and `leader-session.ts`) alone
 * imports it.
 */
const HOSTING: Readonly<Record<string, readonly string[]>> = {
  archives: ['read-bytes'],
  ingress: ['running', 'socket-folder'],
  'api-entry': ['(ingress)', 'socket-folder'],
  engine: ['archives'],
  records: ['ingress'],
  registries: ['(engine)', 'records'],
  ssh: ['records'],
  templates: ['records'],
  tls: ['(ingress)', '(records)'],
  host: ['(engine)', '(ingress)', 'records', '(registries)', '(ssh)'],
  source: ['archives', '(engine)', '(records)', 'running', 'ssh'],
  compose: ['archives', 'records', 'source'],
  deploy: ['engine', 'host', '(ingress)', 'records', 'registries', 'source', 'ssh'],
  'hosted-part': ['(host)'],
  notifications: ['host', 'records'],
  terminals: ['(engine)', 'host', 'records'],
  backups: ['archives', 'deploy', 'engine', 'host', 'records', 'source'],
  front: ['api-entry', 'deploy', 'ingress', 'records', '(tls)'],
  operator: ['host', 'read-bytes', 'records', 'running', 'socket-folder', 'terminals'],
  previews: ['(deploy)', 'host', 'records'],
  runs: ['deploy', 'engine', 'host', 'records'],
  moves: [
    'archives',
    'backups',
    'deploy',
    'engine',
    'host',
    'read-bytes',
    'records',
    'source',
    '(ssh)',
    '(tls)',
    'validator',
  ],
  leader: [
    '(api-entry)',
    'backups',
    'deploy',
    'engine',
    'front',
    'host',
    'moves',
    'notifications',
    'previews',
    'records',
    'registries',
    'runs',
    'ssh',
    '(templates)',
    'terminals',
    'tls',
  ],
  flows: [
    'backups',
    'compose',
    'deploy',
    'engine',
    'host',
    'ingress',
    '(leader)',
    'moves',
    'notifications',
    'previews',
    'read-bytes',
    'records',
    'registries',
    'runs',
    'source',
    'ssh',
    'templates',
    'validator',
  ],
  'leader-session': [
    'deploy',
    'flows',
    'host',
    '(hosted-part)',
    '(ingress)',
    'leader',
    'notifications',
    '(operator)',
    'records',
    'source',
  ],
  hosting: [
    'api-entry',
    'backups',
    'engine',
    'flows',
    '(host)',
    'hosted-part',
    'leader-session',
    'operator',
    'records',
    'templates',
    'terminals',
    'validator',
  ],
  index: ['backups', '(host)', '(hosted-part)', 'hosting'],
};

/**
 * Inside auth, a room or a file beside the rooms may import those listed. What stands further down names `state` as a
 * type alone, and `create-auth` makes what it names. Only that and `auth` lead to the flows.
 */
const AUTH: Readonly<Record<string, readonly string[]>> = {
  account: [
    'base',
    '(events)',
    'keys',
    'passkeys',
    'requests',
    'second-factor',
    'sessions',
    'sign-in',
    '(state)',
    'users',
  ],
  admin: ['base', '(events)', 'limits', 'organizations', 'requests', '(state)', 'users'],
  auth: ['(auth-hooks)', 'create-auth', 'flows'],
  'auth-hooks': ['(events)', '(mails)', '(pages)', '(sessions)', '(users)'],
  config: ['base', 'oauth', 'passkeys'],
  'create-auth': [
    'admin',
    'base',
    'create-state',
    '(events)',
    'flows',
    'limits',
    'migrations',
    'organizations',
    'own',
    'pages',
    'requests',
    'sessions',
    'setup',
    'sign-in',
    '(state)',
    'users',
  ],
  'create-state': [
    '(auth-hooks)',
    'base',
    'config',
    'events',
    'keys',
    'limits',
    'mails',
    'oauth',
    'passwords',
    'secrets',
    'sessions',
    '(state)',
    'users',
    'webhooks',
  ],
  events: ['base'],
  flows: [
    'account',
    'admin',
    'base',
    'config',
    'events',
    'keys',
    'limits',
    'mails',
    'oauth',
    'organizations',
    'passkeys',
    'requests',
    'second-factor',
    'secrets',
    'sessions',
    'setup',
    'sign-in',
    '(state)',
    'users',
    '(webhooks)',
  ],
  index: [
    'auth',
    '(auth-hooks)',
    '(create-auth)',
    '(events)',
    'mails',
    '(own)',
    '(pages)',
    '(sessions)',
    'setup',
    '(sign-in)',
  ],
  keys: ['base', '(events)', 'secrets', '(state)', 'users'],
  limits: ['base', 'events', 'secrets', '(state)'],
  mails: ['(auth-hooks)', 'base', '(config)', 'limits', '(state)', '(users)'],
  migrations: ['base', 'limits', 'users'],
  oauth: ['base', 'events', 'mails', 'secrets', '(sessions)', 'sign-in', '(state)', 'users'],
  organizations: ['base', '(events)', 'requests', 'secrets', '(state)', 'users'],
  own: ['admin', 'base', 'requests', 'sessions', 'sign-in', '(state)', 'users'],
  pages: ['base', 'mails', 'oauth', 'requests', 'secrets', 'sessions', 'sign-in', '(state)'],
  passkeys: ['base', '(events)', '(secrets)', '(state)', '(users)'],
  passwords: ['(auth-hooks)', 'base'],
  requests: ['base', 'events', '(keys)', '(limits)', 'sessions', '(state)', 'users'],
  'second-factor': [
    'base',
    '(events)',
    'passkeys',
    '(passwords)',
    'secrets',
    '(sessions)',
    '(state)',
    '(users)',
  ],
  secrets: ['base'],
  sessions: ['base', 'secrets', '(state)', 'users'],
  setup: [
    'account',
    'base',
    '(create-auth)',
    '(events)',
    'mails',
    'passkeys',
    'requests',
    'secrets',
    '(sessions)',
    'sign-in',
    '(state)',
    'users',
  ],
  'sign-in': [
    'auth-hooks',
    'base',
    'events',
    'keys',
    'limits',
    'mails',
    'organizations',
    'passkeys',
    'requests',
    'second-factor',
    'secrets',
    'sessions',
    '(state)',
    'users',
  ],
  state: [
    '(auth-hooks)',
    '(base)',
    '(config)',
    '(events)',
    '(keys)',
    '(limits)',
    '(mails)',
    '(oauth)',
    '(passwords)',
    '(secrets)',
    '(sessions)',
    '(users)',
    '(webhooks)',
  ],
  users: ['base', '(events)', 'secrets', '(state)'],
  webhooks: ['base', '(config)', '(events)', 'secrets'],
};

/** The files that list the capabilities of their layer, or hand their names on. */
const TABLES = [
  'schema/capabilities.ts',
  'schema/index.ts',
  'schema/sections.ts',
  'templates/capabilities.ts',
];

const files = Object.keys(FOLDERS).flatMap(sourceFiles);
const imports = files.flatMap(importsOf);
/** Without what one package loads of another when it is needed: that one may import the first. */
const followed = imports.filter(({ lazy, byName }) => !(lazy && byName));
const top = (path: string) => path.split('/')[0] ?? '';
const layer = (path: string) => path.split('/')[1]?.replace(/\.ts$/, '') ?? '';
const room = (path: string) => path.split('/')[2]?.replace(/\.ts$/, '') ?? '';
const show = ({ from, to }: Import) => `${from} → ${to}`;

function allowed(
  table: Readonly<Record<string, readonly string[]>>,
  from: string,
  to: string,
  typeOnly: boolean,
): boolean {
  const may = table[from];
  return (
    may === undefined || from === to || may.includes(to) || (typeOnly && may.includes(`(${to})`))
  );
}

describe('imports', () => {
  it('go one way between the folders', () => {
    const ours = imports.filter(({ to }) => top(to) in FOLDERS);
    expect(
      ours
        .filter(({ from, to, typeOnly }) => !allowed(FOLDERS, top(from), top(to), typeOnly))
        .map(show),
    ).toEqual([]);
  });

  it('go one way between the packages of the runtime, which meet by name and never by path', () => {
    const between = imports.filter(
      ({ from, to }) =>
        top(from) === 'runtime' && top(to) === 'runtime' && layer(from) !== layer(to),
    );
    expect(between.length).toBeGreaterThan(20);
    expect(
      between
        .filter(
          ({ from, to, typeOnly, lazy }) =>
            !allowed(PACKAGES, layer(from), layer(to), typeOnly) &&
            !(lazy && PACKAGES[layer(from)]?.includes(`<${layer(to)}>`)),
        )
        .map(show),
    ).toEqual([]);
    expect(between.filter(({ byName }) => !byName).map(show)).toEqual([]);
  });

  it('go one way inside the core, which knows no capability', () => {
    const inside = imports.filter(({ from, to }) =>
      [from, to].every((path) => path.startsWith('runtime/core/')),
    );
    expect(inside.length).toBeGreaterThan(20);
    expect(
      inside
        .filter(({ from, to, typeOnly }) => !allowed(CORE, room(from), room(to), typeOnly))
        .map(show),
    ).toEqual([]);
  });

  it('go one way between the rooms of the data', () => {
    const chamber = (path: string) => /^runtime\/core\/data\/([a-z]+)\//.exec(path)?.[1] ?? '';
    const inside = imports.filter(({ from, to }) => chamber(from) && chamber(to));
    expect(inside.length).toBeGreaterThan(20);
    expect(
      inside
        .filter(({ from, to, typeOnly }) => !allowed(DATA, chamber(from), chamber(to), typeOnly))
        .map(show),
    ).toEqual([]);
    expect([...new Set(inside.map(({ from }) => chamber(from)))].toSorted()).toEqual(
      Object.keys(DATA).toSorted(),
    );
  });

  it('go one way between the rooms of hosting, whose flows nothing but their table stands on', () => {
    const inside = imports.filter(({ from, to }) =>
      [from, to].every((path) => path.startsWith('runtime/hosting/')),
    );
    expect(inside.length).toBeGreaterThan(20);
    expect(
      inside
        .filter(({ from, to, typeOnly }) => !allowed(HOSTING, room(from), room(to), typeOnly))
        .map(show),
    ).toEqual([]);
    const rooms = Object.keys(HOSTING);
    const upwards = inside.filter(
      ({ from, to }) =>
        room(from) !== room(to) && rooms.indexOf(room(to)) >= rooms.indexOf(room(from)),
    );
    expect(upwards.map(show)).toEqual([]);
    const above = inside.filter(({ from, to }) => room(to) === 'flows' && room(from) !== 'flows');
    expect([...new Set(above.map(({ from }) => room(from)))].toSorted()).toEqual([
      'hosting',
      'leader-session',
    ]);
  });

  it('go one way between the rooms of auth', () => {
    const inside = imports.filter(({ from, to }) =>
      [from, to].every((path) => path.startsWith('runtime/auth/')),
    );
    expect(inside.length).toBeGreaterThan(20);
    expect(
      inside
        .filter(({ from, to, typeOnly }) => !allowed(AUTH, room(from), room(to), typeOnly))
        .map(show),
    ).toEqual([]);
    const values = inside.filter(({ typeOnly, from, to }) => !typeOnly && room(from) !== room(to));
    const above = Object.groupBy(values, ({ from }) => room(from));
    const reaches = (name: string, seen: Set<string> = new Set()): Set<string> => {
      for (const { to } of above[name] ?? [])
        if (!seen.has(room(to))) reaches(room(to), seen.add(room(to)));
      return seen;
    };
    const rooms = Object.keys(AUTH);
    expect(rooms.filter((name) => reaches(name).has(name))).toEqual([]);
  });

  it('reach the disk only from the first and last stage of the generator, and never from schema or templates', () => {
    const disk = imports.filter(
      ({ to, typeOnly }) =>
        !typeOnly && /^(node:)?(fs|child_process|net|http|https)(\/|$)/.test(to),
    );
    expect(
      disk.filter(({ from }) => ['schema', 'templates'].includes(top(from))).map(show),
    ).toEqual([]);
  });

  it('take nothing of Node into schema and templates, which the site runs in a browser', () => {
    const ofNode = imports.filter(
      ({ from, to, typeOnly }) =>
        ['schema', 'templates'].includes(top(from)) && !typeOnly && to.startsWith('node:'),
    );
    // The site has this file in a form of its own.
    expect([...new Set(ofNode.map(({ from }) => from))]).toEqual(['schema/parse/load-yaml.ts']);
  });

  it('name a capability in schema and templates only where the tables list them', () => {
    const named = imports.filter(
      ({ from, to }) =>
        ['schema', 'templates'].includes(top(from)) &&
        top(from) === top(to) &&
        layer(to) in PACKAGES &&
        layer(from) !== layer(to),
    );
    const kernel = named.filter(({ from }) => !(layer(from) in PACKAGES));
    expect([...new Set(kernel.map(({ from }) => from))].sort()).toEqual(TABLES);
    const between = named.filter(({ from }) => layer(from) in PACKAGES);
    expect(between.filter(({ typeOnly }) => !typeOnly).map(show)).toEqual([]);
  });

  it('make no circle of values', () => {
    expect(circles(followed.filter(({ typeOnly }) => !typeOnly))).toEqual([]);
  });

  it('make no circle with types either', () => {
    expect(circles(followed).flat()).toEqual([]);
  });
});

describe('benchmarks, whose peers are not installed, so that no compiler checks them', () => {
  it('import names that are there', () => {
    const names = sourceFiles('test/bench').flatMap(importedNames);
    expect(names.length).toBeGreaterThan(100);
    const lacking = names.filter(({ to, name }) => !exportedNames(to).has(name));
    expect(lacking.map(({ from, to, name }) => `${from}: ${name} of ${to}`)).toEqual([]);
  });
});

/** The groups of files of which each reaches every other one: Tarjan's strongly connected components. */
function circles(edges: readonly Import[]): string[][] {
  const graph = new Map(files.map((file) => [file, [] as string[]]));
  for (const { from, to } of edges) if (graph.has(to)) graph.get(from)?.push(to);
  const found: string[][] = [];
  const index = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const visit = (file: string): void => {
    index.set(file, index.size);
    lowest.set(file, index.get(file)!);
    stack.push(file);
    for (const next of graph.get(file)!) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(next)!));
    }
    if (lowest.get(file) !== index.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1 || graph.get(file)!.includes(file)) found.push(group.sort());
  };
  for (const file of files) if (!index.has(file)) visit(file);
  return found.sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
}
