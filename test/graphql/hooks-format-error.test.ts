import { describe, expect, it, vi } from 'vitest';
import { call, FORBIDDEN, hooked, streamed, useHookedServer } from './hooked-server.ts';

useHookedServer();

describe('formatError', () => {
  it('sees the errors inside an event', async () => {
    const seen: unknown[] = [];
    hooked.hooks = {
      formatError: (formatted, { error }) => {
        seen.push((error.originalError as Error | undefined)?.message);
        return { ...formatted, extensions: { ...formatted.extensions, more: 1 } };
      },
    };
    const heard = streamed('subscription Told { noteCreated { text broken } }', (all) =>
      all.includes('"text":"event"'),
    );
    await vi.waitFor(() => expect(hooked.said).toContain('b subscribe Told'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await call({ query: 'mutation { createNote(text: "event") { id } }' });
    const [, event = ''] = /data: (.*"text":"event".*)/.exec((await heard).text) ?? [];
    expect(JSON.parse(event)).toMatchObject({
      data: { noteCreated: { text: 'event', broken: null } },
      errors: [{ message: 'Internal server error', extensions: { more: 1 } }],
    });
    expect(seen).toEqual(['a secret']);
  });

  const json = (response: Response) => response.json() as Promise<any>;
  const graphql = () => `${hooked.url}/graphql`;
  const ways: Record<string, () => Promise<any>> = {
    GRAPHQL_PARSE_FAILED: async () => (await call({ query: '{' })).body,
    GRAPHQL_VALIDATION_FAILED: async () => (await call({ query: FORBIDDEN })).body,
    OPERATION_RESOLUTION_FAILURE: async () =>
      (await call({ query: 'query A { bug } query B { bug }' })).body,
    INTERNAL_SERVER_ERROR: async () => (await call({ query: '{ bug }' })).body,
    BAD_USER_INPUT: async () =>
      (await call({ query: 'query ($id: ID!) { note(id: $id) { id } }' })).body,
    UNAUTHENTICATED: () =>
      fetch(graphql(), { method: 'POST', headers: { 'x-wrong': '1' } }).then(json),
    METHOD_NOT_ALLOWED: () => fetch(graphql(), { method: 'PUT' }).then(json),
    NOT_ACCEPTABLE: () => fetch(graphql(), { headers: { accept: 'image/png' } }).then(json),
    UNSUPPORTED_MEDIA_TYPE: () => fetch(graphql(), { method: 'POST', body: 'x' }).then(json),
    TOO_LARGE: async () => (await call({ query: '#'.repeat(2_000_000) })).body,
    BATCH_TOO_LARGE: async () =>
      (await call(Array.from({ length: 6 }, () => ({ query: '{ bug }' })))).body,
  };

  it.each(Object.entries(ways))('sees %s once, masked, and changes it', async (code, ask) => {
    const seen: unknown[] = [];
    hooked.hooks = {
      formatError: (formatted, { error, ctx }) => {
        seen.push([formatted.extensions?.['code'], error instanceof Error, typeof ctx.id]);
        return { ...formatted, extensions: { ...formatted.extensions, more: 1 } };
      },
    };
    const { errors } = await ask();
    expect(errors[0].extensions).toMatchObject({ code, more: 1 });
    expect(seen).toEqual([[code, true, 'string']]);
    expect(JSON.stringify(errors)).not.toContain('secret');
  });

  it('gets the error itself beside the masked one', async () => {
    let own: unknown;
    hooked.hooks = {
      formatError: (formatted, { error }) => {
        own = (error.originalError as Error | undefined)?.message;
        return formatted;
      },
    };
    await call({ query: '{ bug }' });
    expect(own).toBe('a secret');
  });

  it('that throws is logged, and the masked error goes out', async () => {
    hooked.hooks = {
      formatError: () => {
        throw new Error('the hook is broken');
      },
    };
    const { body } = await call({ query: '{ bug }' });
    expect(body.errors[0].message).toBe('Internal server error');
    expect(hooked.lines.join('')).toContain('the hook is broken');
  });
});
