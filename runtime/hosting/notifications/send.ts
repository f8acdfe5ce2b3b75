import { isPrivateHost, guardedLookup } from '@twofold/runtime/http';
import type { Settings } from '@twofold/runtime/kernel';
import nodemailer, { type Transporter } from 'nodemailer';
import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import type { Message } from './events.ts';
import type { Receiver } from './receiver.ts';

/** The status that a receiver answered with, or the reason why there is none. */
export type SendResult = { readonly status: number } | { readonly error: string };

/** Sends one message. Never throws. */
export type Send = (receiver: Receiver, message: Message) => Promise<SendResult>;

export interface Sender {
  readonly send: Send;
  /** Whether mail can be sent. */
  readonly mails: boolean;
  readonly allowPrivate: boolean;
  close(): Promise<void>;
}

const TIME_LIMIT = 5000;
const MAX_RESPONSE_BYTES = 64 * 1024;

export const isAccepted = (result: SendResult) =>
  'status' in result && result.status >= 200 && result.status < 300;

/**
 * Uses the settings that auth has for its own webhooks and mail: `SMTP_URL`, `MAIL_FROM` and
 * `WEBHOOK_ALLOW_PRIVATE`.
 */
export function createSender(settings: Settings, now: () => number): Sender {
  const allowPrivate = settings.flag('WEBHOOK_ALLOW_PRIVATE', !settings.production);
  const agent = new Agent({
    connect: { timeout: TIME_LIMIT, ...(!allowPrivate && { lookup: guardedLookup }) },
  });
  const smtp = settings.text('SMTP_URL');
  const from = settings.text('MAIL_FROM', 'no-reply@localhost');
  const transport = smtp ? nodemailer.createTransport(mailOptions(smtp), { from }) : null;
  const post = (url: string, headers: Record<string, string>, body: string) =>
    !allowPrivate && isPrivateHost(new URL(url).hostname)
      ? Promise.resolve({ error: 'private address' })
      : postTo(agent, url, headers, body);
  return {
    allowPrivate,
    mails: transport !== null,
    async send(receiver, message) {
      const { kind, url = '', to = '' } = receiver;
      if (kind === 'slack') return post(url, {}, JSON.stringify({ text: slackText(message) }));
      if (kind === 'webhook') {
        const body = JSON.stringify(message);
        return post(url, signatureOf(receiver, message.id, now(), body), body);
      }
      return transport ? mail(transport, to, message) : { error: 'SMTP_URL is not set' };
    },
    async close() {
      transport?.close();
      await agent.destroy();
    },
  };
}

/** Without redirects: their target may be another server, or a private address. */
async function postTo(
  agent: Agent,
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<SendResult> {
  try {
    const response = await request(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      dispatcher: agent,
      signal: AbortSignal.timeout(TIME_LIMIT),
      headersTimeout: TIME_LIMIT,
      bodyTimeout: TIME_LIMIT,
    });
    await response.body.dump({ limit: MAX_RESPONSE_BYTES });
    return { status: response.statusCode };
  } catch (error) {
    return { error: codeOf(error) };
  }
}

/** Headers of the Standard Webhooks specification. */
function signatureOf(
  { secret = '' }: Receiver,
  id: string,
  now: number,
  body: string,
): Record<string, string> {
  const at = new Date(now);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

/** The URL may have further options in its query, which nodemailer reads. */
const mailOptions = (url: string) => ({
  url,
  connectionTimeout: TIME_LIMIT,
  greetingTimeout: TIME_LIMIT,
  socketTimeout: 2 * TIME_LIMIT,
});

async function mail(
  transport: Transporter,
  to: string,
  { title, text, url }: Message,
): Promise<SendResult> {
  try {
    await transport.sendMail({
      to: { name: '', address: to },
      subject: title,
      text: [text, url].filter(Boolean).join('\n\n'),
    });
    return { status: 250 };
  } catch (error) {
    return { error: codeOf(error) };
  }
}

/** Slack reads `<`, `>` and `&` as markup. */
const slackText = ({ title, text, url }: Message) =>
  [`*${title}*`, text, url]
    .filter(Boolean)
    .join('\n')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');

/** The code only: a message of an error may contain the address. */
const codeOf = (error: unknown) =>
  (error as { code?: string }).code ?? (error instanceof Error ? error.name : 'failed');
