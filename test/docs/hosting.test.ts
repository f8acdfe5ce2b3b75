import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type RouteSpec, systemRoutes } from '@twofold/schema';
import { authFlows } from '../../runtime/auth/flows/index.ts';
import { hostingFlows } from '../../runtime/hosting/flows/index.ts';
import { root, sourceFiles } from '../source-files.ts';

const text = (path: string) => readFileSync(join(root, path), 'utf8');
const folder = 'runtime/hosting/docs';
const files = readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);
const page = files.map(text).join('\n');
const routes: readonly RouteSpec[] = [...hostingFlows, ...systemRoutes, ...authFlows];

interface Call {
  readonly line: string;
  readonly path: string;
  /** Of the command line; GET where nothing says otherwise. */
  readonly method: string;
  readonly query: readonly string[];
}

/** Every address of the page: in a command, or as `PUT /api/…` in a sentence. */
function callsOf(markdown: string): Call[] {
  return markdown.split('\n').flatMap((line) =>
    line.split(/;\s+(?=api )/).flatMap((command) =>
      [
        ...command.matchAll(
          /(?:\$base|(GET|POST|PUT|PATCH|DELETE) )(\/(?:api\/|metrics)[\w/$.-]*)(\?[\w=&]+)?/g,
        ),
      ].map(([, word, path = '', query = '']) => ({
        line: command.trim(),
        path,
        method: word ?? /-X (\w+)/.exec(command)?.[1] ?? (/ -[dF] /.test(command) ? 'POST' : 'GET'),
        query: [...new URLSearchParams(query).keys()],
      })),
    ),
  );
}

const routeOf = ({ path, method }: Call): RouteSpec | undefined =>
  routes.find(
    (route) =>
      route.method === method &&
      new RegExp(`^${route.path.replaceAll(/[:*]\w+/g, '[^/]+')}$`).test(path),
  );

describe('the pages of hosting', () => {
  const calls = callsOf(page);

  it('calls only what there is, by its method', () => {
    expect(calls.length).toBeGreaterThan(20);
    expect(
      calls
        .filter((call) => !routeOf(call))
        .map(({ method, path, line }) => `${method} ${path}: ${line}`),
    ).toEqual([]);
  });

  it('gives only parameters that the call has', () => {
    expect(
      calls.flatMap((call) =>
        call.query
          .filter((name) => !routeOf(call)?.query?.[name])
          .map((name) => `${name}: ${call.line}`),
      ),
    ).toEqual([]);
  });

  it('sends only fields that the call takes', () => {
    const wrong = calls.flatMap((call) => {
      const body = routeOf(call)?.body;
      const properties =
        body?.kind === 'json' ? (body.schema?.['properties'] as object | undefined) : undefined;
      const [, json] = /-d '(\{.*\})'/.exec(call.line) ?? [];
      if (!properties || json === undefined) return [];
      return Object.keys(JSON.parse(json) as object)
        .filter((name) => !Object.hasOwn(properties, name))
        .map((name) => `${name}: ${call.line}`);
    });
    expect(wrong).toEqual([]);
  });

  it('shows every call of apps, deployments, templates and events at least once, but for those that it names in words', () => {
    const shown = new Set(calls.map((call) => routeOf(call)?.id));
    const rest = hostingFlows
      .filter(({ id, path }) => !shown.has(id) && !path.startsWith('/api/system'))
      .map(({ method, path }) => `${method} ${path}`);
    const told = rest.filter((route) => !page.includes(route.split('/').at(-1)!.replace(/^:/, '')));
    expect(told).toEqual([]);
  });
});

describe('the settings of hosting', () => {
  it('stand on its pages or in its README, all that the code reads', () => {
    const source = sourceFiles('runtime/hosting').map(text).join('\n');
    const reads = /(?:settings\.(?:text|number|flag|secret)\(|oneOf\(kernel,)\s*'([A-Z_]+)'/g;
    const read = [...new Set([...source.matchAll(reads)].map(([, name]) => name!))];
    const pages = [
      ...files,
      'runtime/models/docs/models.md',
      'runtime/hosting/README.md',
      'schema/docs/manifest.md',
    ]
      .map(text)
      .join('\n');
    expect(read.length).toBeGreaterThan(5);
    expect(read.filter((name) => !pages.includes(name))).toEqual([]);
  });
});
