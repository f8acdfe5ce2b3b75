import { failure } from '@twofold/runtime/errors';

/**
 * The error for an archive or Dockerfile that is not allowed: 422. Names in its message should be
 * passed through `quote`, because they are untrusted.
 */
export const refuse = (message: string) => failure.unprocessable(message);

/** Quotes and shortens untrusted text for a message. */
export const quote = (text: string) =>
  JSON.stringify(text.length > 120 ? `${text.slice(0, 117)}...` : text);
