import type { ServerResponse } from 'node:http';

/** Headers for endpoints that run before helmet: those of helmet that matter for JSON. */
const ANSWER_HEADERS = [
  'Strict-Transport-Security',
  'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'SAMEORIGIN',
  'Referrer-Policy',
  'no-referrer',
] as const;

export function setAnswerHeaders(response: ServerResponse): void {
  for (let index = 0; index < ANSWER_HEADERS.length; index += 2)
    response.setHeader(ANSWER_HEADERS[index] as string, ANSWER_HEADERS[index + 1] as string);
}
