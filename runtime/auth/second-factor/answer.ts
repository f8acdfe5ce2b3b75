import { type Call, type Handler, type Reply } from '@twofold/runtime/http';
import { advance } from '../steps/advance.ts';
import { forClient } from '../steps/enter-application.ts';
import { answerUnderLockout, invalidCode, WrongAnswer } from '../steps/code-attempt.ts';
import type { Entry, StepWrites } from '../steps/entry.ts';
import { identifierOf } from '../sign-in/identifier.ts';
import { requireApiKey } from '../sign-in/login.ts';
import { isMailedCode } from '../steps/mailed-code.ts';
import type { AuthParts } from '../parts.ts';
import { countAnswer, type HeldTicket, readTicket, useTicket } from '../steps/tickets.ts';
import { rememberDevice } from './devices.ts';
import { type ProvenFactor, proveFactor } from './factors.ts';

/**
 * `POST /api/auth/second-factor {ticket, code | recovery_code | credential, remember_device?}`: the
 * answer to a step. It answers what the first request would have, or with the next step.
 */
export function createAnswer(parts: AuthParts): Handler {
  return async (call) => {
    requireApiKey(parts, call.context);
    const held = await readTicket(parts, call.body.ticket, ['second_factor', 'email_code']);
    const { account } = held.entry;
    const identifierHash = identifierOf(parts, account.email);
    const kind = 'second_factor' as const;
    const attempt = { call, identifierHash, account, kind, error: invalidCode };
    return answerUnderLockout(parts, attempt, async () => {
      const proven = await prove(parts, call, held);
      return complete(parts, call, held, proven);
    });
  };
}

/** Checks the answer to the step of the ticket. @throws WrongAnswer */
async function prove(parts: AuthParts, call: Call, held: HeldTicket): Promise<ProvenFactor> {
  await countAnswer(parts, held.token);
  if (held.next === 'second_factor') return proveFactor(parts, call, held.entry.account);
  if (!isMailedCode(parts, held, call.body.code)) throw new WrongAnswer();
  return { amr: ['email'], writes: async () => {} };
}

async function complete(
  parts: AuthParts,
  call: Call,
  { token, next, entry }: HeldTicket,
  { amr, passkey, writes }: ProvenFactor,
): Promise<Reply> {
  let sendDevice: (() => void) | null = null;
  const remembers = call.body.remember_device === true && next === 'second_factor';
  const all: StepWrites = async (trx, emit) => {
    await useTicket(parts, trx, token);
    await writes(trx, emit);
    if (remembers) sendDevice = await rememberDevice(parts, call, entry.account.id, { trx, emit });
  };
  const proved: Entry = {
    ...entry,
    amr: [...entry.amr, ...amr],
    ...(passkey !== undefined && { passkey }),
    writes: all,
  };
  const answer = await advance(parts, call, forClient(proved, call.body));
  (sendDevice as (() => void) | null)?.();
  return answer;
}
