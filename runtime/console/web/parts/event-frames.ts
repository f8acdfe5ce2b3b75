/** One server-sent event (HTML Living Standard §9.2). */
export interface StreamEvent {
  /** The last id that the stream gave, to go on from there; empty before the first. */
  readonly id: string;
  /** `message` when the stream names none. */
  readonly event: string;
  readonly data: string;
}

/**
 * Reads events from the text of a stream, which comes in pieces that end anywhere.
 *
 * @example
 * const read = createFrameReader();
 * read('id: 7\nda'); // []
 * read('ta: hello\n\n'); // [{ id: '7', event: 'message', data: 'hello' }]
 */
export function createFrameReader(): (text: string) => StreamEvent[] {
  let [rest, id] = ['', ''];
  return (text) => {
    const frames = (rest + text).split(/\r?\n\r?\n|\r\r/);
    rest = frames.pop() ?? '';
    return frames.flatMap((frame) => {
      const { data, event, id: next } = fieldsOf(frame);
      id = next ?? id;
      return data === undefined ? [] : [{ id, event: event ?? 'message', data }];
    });
  };
}

/**
 * The text of an event that is one line of a log. The format ends a line at a carriage return, so
 * one in the text arrives as a line feed.
 *
 * @example lineOf('10 %\n20 %') // '10 %\r20 %'
 */
export const lineOf = (data: string): string => data.replaceAll('\n', '\r');

interface Fields {
  data?: string;
  event?: string;
  id?: string;
}

/** Lines that begin with a colon are comments, which keep a connection open. */
function fieldsOf(frame: string): Fields {
  const fields: Fields = {};
  for (const line of frame.split(/\r\n|\n|\r/)) {
    const [, name, value = ''] = /^(data|event|id)(?:: ?([^]*))?$/.exec(line) ?? [];
    if (name === 'data')
      fields.data = fields.data === undefined ? value : `${fields.data}\n${value}`;
    else if (name === 'event') fields.event = value;
    else if (name === 'id' && !value.includes('\0')) fields.id = value;
  }
  return fields;
}
