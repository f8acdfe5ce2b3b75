import { failure } from '@twofold/runtime/errors';

/**
 * An archive or Dockerfile that policy refuses: 422. Names in messages are cut and quoted, since a
 * stranger chose them.
 */
export const refuse = (message: string) => failure.unprocessable(message);

/** A stranger's text, fit for a message. */
export const quote = (text: string) =>
  JSON.stringify(text.length > 120 ? `${text.slice(0, 117)}...` : text);
