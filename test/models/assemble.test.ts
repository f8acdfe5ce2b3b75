import { describe, expect, it } from 'vitest';
import { Assembly } from '../../runtime/models/gateway/assemble.ts';

/** The whole answer of chunks that came one after the other. */
function assembled(chunks: readonly object[], isChat = true): any {
  const assembly = new Assembly();
  for (const chunk of chunks) assembly.chunk(JSON.parse(JSON.stringify(chunk)));
  return JSON.parse(JSON.stringify(assembly.answer(isChat)));
}

const piece = (delta: object, more: object = {}) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1 },
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});

describe('a whole answer of a stream', () => {
  it('has the text of all pieces, the reason of its end and the usage', () => {
    expect(
      assembled([
        piece({ role: 'assistant', content: '' }),
        piece({ role: 'assistant', content: 'Hel' }),
        piece({ content: 'lo' }),
        piece({}, { finish_reason: 'stop' }),
        { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
      ]),
    ).toEqual({
      ...{ id: 'c', object: 'chat.completion', created: 1 },
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello' },
          ...{ finish_reason: 'stop', logprobs: null },
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    });
  });

  it('has each of several answers, whose pieces come mixed', () => {
    const { choices } = assembled(
      [
        { choices: [{ index: 1, text: 'b' }] },
        { choices: [{ index: 0, text: 'a' }] },
        { choices: [{ index: 1, text: 'B', finish_reason: 'length' }] },
        { choices: [{ index: 0, text: 'A', finish_reason: 'stop', stop_reason: 7 }] },
      ],
      false,
    );
    expect(choices).toEqual([
      { index: 0, text: 'aA', finish_reason: 'stop', stop_reason: 7, logprobs: null },
      { index: 1, text: 'bB', finish_reason: 'length', logprobs: null },
    ]);
  });

  it('has calls of tools, in pieces or whole, and no text where there is none', () => {
    const call = (name: string, args: string) => ({ name, arguments: args });
    const { choices } = assembled([
      piece({ role: 'assistant', content: null }),
      piece({ tool_calls: [{ index: 0, id: 'x', type: 'function', function: call('f', '') }] }),
      piece({ tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] }),
      piece({ tool_calls: [{ index: 1, id: 'y', function: call('g', '{') }] }),
      piece({ tool_calls: [{ index: 0, id: '', function: { arguments: ':1}' } }] }),
      piece({ tool_calls: [{ index: 1, function: { arguments: '}' } }] }),
      piece({ tool_calls: [{ id: 'z', type: 'function', function: call('h', '{}') }] }),
    ]);
    expect(choices[0].message).toEqual({
      ...{ role: 'assistant', content: null },
      tool_calls: [
        { id: 'x', type: 'function', function: call('f', '{"a":1}') },
        { id: 'y', type: 'function', function: call('g', '{}') },
        { id: 'z', type: 'function', function: call('h', '{}') },
      ],
    });
  });

  it('loses nothing that only some engines say', () => {
    const log = (token: string) => ({ logprobs: { content: [{ token, logprob: -1 }] } });
    const { choices, system_fingerprint } = assembled([
      { ...piece({ content: 'a', reasoning: 'th' }, log('a')), system_fingerprint: 'fp' },
      piece({ content: 'b', reasoning: 'ink', annotations: [{ url: 1 }] }, log('b')),
    ]);
    expect(system_fingerprint).toBe('fp');
    expect(choices[0]).toMatchObject({
      message: { content: 'ab', reasoning: 'think', annotations: [{ url: 1 }] },
      logprobs: { content: [{ token: 'a' }, { token: 'b' }] },
    });
  });

  it('takes any name of a member as a name', () => {
    const assembly = new Assembly();
    assembly.chunk(JSON.parse('{"choices":[{"delta":{"__proto__":{"polluted":"yes"}}}]}'));
    assembly.chunk(JSON.parse('{"choices":[{"delta":{"__proto__":{"polluted":"!"}}}]}'));
    assembly.answer(true);
    expect('polluted' in {}).toBe(false);
  });
});
