import { createParser } from 'eventsource-parser';

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
  let last = '';
  let events: StreamEvent[] = [];
  const parser = createParser({
    onEvent({ id = last, event = 'message', data }) {
      last = id;
      events.push({ id, event, data });
    },
  });
  return (text) => {
    events = [];
    parser.feed(text);
    return events;
  };
}

/** The events of the body of an answer, those together that arrive together. */
export async function* eventsIn(body: Body['body']): AsyncGenerator<readonly StreamEvent[]> {
  const read = createFrameReader();
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read())
    yield read(next.value);
}

/**
 * The text of an event that is one line of a log. The format ends a line at a carriage return, so
 * one in the text arrives as a line feed.
 *
 * @example lineOf('10 %\n20 %') // '10 %\r20 %'
 */
export const lineOf = (data: string): string => data.replaceAll('\n', '\r');
