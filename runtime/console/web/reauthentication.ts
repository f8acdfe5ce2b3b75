import { errorOf, note } from './call.ts';
import { accessToken, adopt, post } from './session.ts';

/** The step that is left before a sign-in or a reauthentication is complete. */
export interface ReauthenticationStep {
  readonly next: 'second_factor' | 'enroll_second_factor' | 'change_password' | 'email_code';
  readonly ticket: string;
  readonly methods?: readonly ('totp' | 'passkey' | 'recovery_code')[];
}

/**
 * Proves again who is signed in, by `password` or `credential`; `{}` asks for the code of a mail.
 * The session goes on under new tokens.
 *
 * @returns the step that is left, or null when it is complete
 * @throws ApiError when the server refuses
 */
export const reauthenticate = (body: object): Promise<ReauthenticationStep | null> =>
  send('/api/auth/reauthenticate', body);

/** Answers a step with its `ticket`, and a code or a passkey. @throws ApiError */
export const answerStep = (body: object): Promise<ReauthenticationStep | null> =>
  send('/api/auth/second-factor', body);

async function send(path: string, body: object): Promise<ReauthenticationStep | null> {
  note({ method: 'POST', path, body, headers: {} });
  const response = await post(path, body, { Authorization: `Bearer ${accessToken()}` });
  const answer = (await response.json().catch(() => ({}))) as Answer;
  if (!response.ok) throw errorOf(response, answer);
  if (answer.next !== undefined) return answer as ReauthenticationStep;
  if (answer.accessToken !== undefined) adopt({ ...answer, accessToken: answer.accessToken });
  return null;
}

interface Answer extends Partial<ReauthenticationStep> {
  readonly accessToken?: string;
  readonly id?: string | number;
  readonly exp?: number;
}
