import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { client } from './hey-api/client.gen.ts';
import * as sdk from './hey-api/sdk.gen.ts';
import { signIn, url } from './session.ts';

interface Answer {
  readonly request: Request;
  readonly response: Response;
  readonly error?: unknown;
}
type Call = (options: object) => Promise<Answer>;
type Operation = { readonly operationId: string; readonly requestBody?: object };

const document = JSON.parse(readFileSync('openapi.json', 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const routes = Object.entries(document.paths).flatMap(([path, item]) =>
  METHODS.flatMap((method) => (item[method] ? [{ path, method, ...item[method] }] : [])),
);

/** A value for every name that a path of ours has. */
const path = new Proxy({} as Record<string, string>, { get: () => '1', has: () => true });

it('creates and reads a row with typed bodies and answers', async () => {
  client.setConfig({ baseUrl: url, headers: { authorization: `Bearer ${await signIn()}` } });
  const created = await sdk.createPost({
    body: { title: 'By hey-api', mood: 'WILD', authorId: 'Author:1' },
    throwOnError: true,
  });
  assert.equal(created.data.title, 'By hey-api');
  const read = await sdk.getPost({ path: { id: created.data.id! }, throwOnError: true });
  assert.equal(read.data.mood, 'WILD');
});

it('calls every route of the document', async () => {
  const calls = sdk as unknown as Readonly<Record<string, Call>>;
  assert.ok(routes.length > 50);
  for (const route of routes) {
    const call = calls[route.operationId];
    assert.ok(call, `nothing calls ${route.method} ${route.path}`);
    const body = route.requestBody && { body: {} };
    const { request, response, error } = await call({ path, ...body });
    const asked = `${request.method} ${new URL(request.url).pathname}`;
    assert.equal(asked, `${route.method.toUpperCase()} ${route.path.replaceAll(/\{\w+\}/g, '1')}`);
    assert.notEqual(response.status, 405, asked);
    assert.ok(response.status < 500, `${asked}: ${response.status} ${JSON.stringify(error)}`);
  }
});
