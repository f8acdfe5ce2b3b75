import { GraphQLError } from 'graphql';
import { createClient } from 'graphql-ws';
import { describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { AppError } from '../../runtime/core/index.ts';
import { call, hooked, streamed, useHookedServer } from './hooked-server.ts';

useHookedServer();

describe('onSubscribe', () => {
  const make = (text: string) =>
    call({ query: `mutation Make { createNote(text: "${text}") { id } }` });
  const QUERY = 'subscription Told { noteCreated { text } }';
  /** The texts of the events that a subscriber gets until one says "last". */
  const heard: Record<string, () => Promise<string[]>> = {
    websocket: () =>
      new Promise((resolve, reject) => {
        const client = createClient({
          url: `${hooked.url.replace('http', 'ws')}/graphql`,
          webSocketImpl: WebSocket,
          retryAttempts: 0,
        });
        const texts: string[] = [];
        client.subscribe<any>(
          { query: QUERY },
          {
            next: ({ data }) => {
              texts.push(data.noteCreated.text);
              if (data.noteCreated.text === 'last!') void client.dispose();
            },
            error: reject,
            complete: () => resolve(texts),
          },
        );
      }),
    'event stream': async () => {
      const { text } = await streamed(QUERY, (all) => all.includes('last!'));
      return [...text.matchAll(/"text":"(\w+!?)"/g)].map(([, each]) => each!);
    },
  };

  it.each(Object.keys(heard))('changes and drops events over %s, once each', async (transport) => {
    hooked.hooks = {
      onSubscribe:
        () =>
        ({ event }) => {
          if (event.data.noteCreated.text === 'dropped') return null;
          event.data.noteCreated.text += '!';
          return event;
        },
    };
    const done = heard[transport]!();
    await vi.waitFor(() => expect(hooked.said).toContain('b subscribe Told'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    hooked.said = hooked.said.filter((each) => each.includes('subscribe'));
    for (const text of ['first', 'dropped', 'last']) await make(text);
    expect(await done).toEqual(['first!', 'last!']);
    expect(hooked.said.filter((each) => /subscribe|event/.test(each))).toEqual([
      'a subscribe Told',
      'b subscribe Told',
      ...['first', 'dropped', 'last'].flatMap(() => ['b event', 'a event']),
    ]);
  });

  it('refuses by a throw', async () => {
    hooked.hooks = {
      onSubscribe: () => {
        throw new AppError(402, 'PAY', 'pay first');
      },
    };
    const { status, text } = await streamed(QUERY);
    expect([status, JSON.parse(text).errors[0].extensions.code]).toEqual([402, 'PAY']);
    const client = createClient({
      url: `${hooked.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });
    hooked.said = [];
    const error = await new Promise((resolve) =>
      client.subscribe({ query: QUERY }, { next: () => {}, error: resolve, complete: () => {} }),
    );
    expect(error).toMatchObject([{ message: 'pay first', extensions: { code: 'PAY' } }]);
    expect(hooked.said.filter((each) => each.includes('format'))).toEqual([
      'a format PAY',
      'b format PAY',
    ]);
    await client.dispose();
  });
});

describe('a GraphQLError of onSubscribe without a code', () => {
  const slip = () => {
    throw new GraphQLError('slip of a subscription');
  };
  it.each([
    ['before the first event', slip],
    ['at an event', () => slip],
  ])('is masked and logged %s', async (_, onSubscribe) => {
    hooked.hooks = { onSubscribe };
    hooked.lines.length = 0;
    const heard = streamed('subscription Slip { noteCreated { id } }', (all) => /errors/.test(all));
    await vi.waitFor(() => expect(hooked.said).toContain('a subscribe Slip'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await call({ query: 'mutation { createNote(text: "x") { id } }' });
    const { text } = await heard;
    expect(text).toContain('INTERNAL_SERVER_ERROR');
    expect(text).not.toContain('slip of');
    expect(hooked.lines.join('')).toContain('slip of a subscription');
  });
});
