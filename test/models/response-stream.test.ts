import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { LlamaReply } from '../../runtime/models/llamacpp/messages.ts';
import { ResponseStream } from '../../runtime/models/llamacpp/response-stream.ts';

function opened() {
  const sent: LlamaReply[] = [];
  return { sent, response: new ResponseStream(7, (reply) => void sent.push(reply)) };
}

describe('what a model says', () => {
  it('goes out at once when it is the first, and together when more comes than anybody reads', async () => {
    const { sent, response } = opened();
    response.write('a');
    expect(sent).toEqual([
      { id: 7, head: expect.objectContaining({ status: 200 }), text: 'a', end: false },
    ]);
    for (const piece of 'bcdef') response.write(piece);
    expect(sent.length).toBe(1);
    while (sent.length < 2) await sleep(1);
    expect(sent[1]).toEqual({ id: 7, text: 'bcdef', end: false });
  });

  it('is whole and in its order, however it is cut, and nothing comes after its end', async () => {
    const { sent, response } = opened();
    const pieces = Array.from({ length: 200 }, (_, index) => `${index} `);
    for (const [index, piece] of pieces.entries()) {
      response.write(piece);
      if (index % 17 === 0) await sleep(3);
    }
    response.end('done');
    expect(sent.map(({ text }) => text).join('')).toBe(`${pieces.join('')}done`);
    expect(sent.map(({ end }) => end)).toEqual([...Array(sent.length - 1).fill(false), true]);
    expect(sent.filter(({ head }) => head).length).toBe(1);
    const { length } = sent;
    await sleep(40);
    expect(sent.length).toBe(length);
  });

  it('is one message when it is not streamed, and when a stream holds nothing but its end', () => {
    const whole = opened();
    whole.response.json(400, { error: 'x' });
    expect(whole.sent).toEqual([
      {
        id: 7,
        head: { status: 400, headers: { 'content-type': 'application/json' } },
        text: '{"error":"x"}',
        end: true,
      },
    ]);
    const empty = opened();
    empty.response.end('data: [DONE]\n\n');
    expect(empty.sent).toEqual([
      {
        id: 7,
        head: expect.objectContaining({ status: 200 }),
        text: 'data: [DONE]\n\n',
        end: true,
      },
    ]);
  });
});
