import { setTimeout as sleep } from 'node:timers/promises';
import nodemailer from 'nodemailer';
import { failure } from '@twofold/runtime/errors';
import type { Kernel } from '@twofold/runtime/kernel';
import { isEmail } from '@twofold/schema';
import type { AuthConfig } from '../config.ts';
import { SECOND } from '../base/time.ts';

export interface OutgoingMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Made by the tag `html`, which escapes what users wrote. */
  readonly html?: string;
}

/** Sends mail in the background, so that the response time shows nothing about it. */
export interface Mailer {
  /** `smtp`, `log` (in development), or `none`. */
  readonly mode: 'smtp' | 'log' | 'none';
  /** Queues one mail, after the commit. Errors are retried and logged, never thrown. */
  send(mail: OutgoingMail): void;
  /** @throws AppError 503 when there is no way to send a mail. */
  assertAvailable(): void;
  /** Waits for queued mail, for at most `limit` milliseconds. */
  drain(limit: number): Promise<void>;
}

const MAX_ATTEMPTS = 3;

export function createMailer({ settings, log, store }: Kernel, config: AuthConfig): Mailer {
  const mode = config.smtpUrl ? 'smtp' : settings.production ? 'none' : 'log';
  const transport = config.smtpUrl
    ? nodemailer.createTransport(config.smtpUrl, { from: config.mailFrom })
    : null;
  const queued = new Set<Promise<void>>();
  const deliver = async (mail: OutgoingMail) => {
    // The address was checked when it was stored. It is checked again here because the header `To`
    // accepts lists of addresses.
    if (!isEmail(mail.to)) return log.error('a mail was not sent: its address is not one mailbox');
    if (!transport) return log.info({ mail: readable(mail) }, 'mail');
    for (let attempt = 1; ; attempt += 1) {
      try {
        await transport.sendMail({
          to: { name: '', address: mail.to },
          subject: mail.subject,
          text: mail.text,
          ...(mail.html !== undefined && { html: mail.html }),
        });
        return;
      } catch (error) {
        log.warn({ attempt, code: (error as { code?: unknown }).code }, 'a mail was not sent');
        if (attempt === MAX_ATTEMPTS) return;
        await sleep(attempt * SECOND, undefined, { ref: false });
      }
    }
  };
  return {
    mode,
    send: (mail) => {
      if (mode === 'none') return;
      store.afterCommit(() => {
        const job: Promise<void> = deliver(mail).finally(() => queued.delete(job));
        queued.add(job);
      });
    },
    assertAvailable: () => {
      if (mode === 'none')
        throw failure.unavailable(undefined, { headers: { 'Retry-After': '3600' } });
    },
    drain: async (limit) => {
      const timeout = sleep(limit, undefined, { ref: false });
      await Promise.race([Promise.all([...queued]), timeout]);
      transport?.close();
    },
  };
}

/** The log shows the text, without the same words in HTML. */
const readable = ({ to, subject, text }: OutgoingMail) => ({ to, subject, text });
