import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A mail as it arrived. */
export interface Received {
  readonly to: readonly string[];
  readonly text: string;
  /** The token of the link in it. */
  readonly token: string | null;
}

/** A real SMTP server on loopback that keeps what it gets. */
export async function startMailbox() {
  const received: Received[] = [];
  const waiting: (() => void)[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const text = Buffer.concat(chunks)
          .toString()
          .replaceAll('=\r\n', '')
          .replaceAll('=3D', '=');
        received.push({
          to: session.envelope.rcptTo.map(({ address }) => address),
          text,
          token: /token=([\w-]+)/.exec(text)?.[1] ?? null,
        });
        waiting.splice(0).forEach((wake) => wake());
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    /** The next mail to an address with a text in it; fails after five seconds. */
    async find(to: string, containing: string): Promise<Received> {
      const until = Date.now() + 5000;
      for (;;) {
        const index = received.findIndex(
          (mail) => mail.to.includes(to) && mail.text.includes(containing),
        );
        if (index >= 0) return received.splice(index, 1)[0]!;
        if (Date.now() > until) throw new Error(`no mail to ${to} with "${containing}"`);
        await Promise.race([
          new Promise<void>((resolve) => waiting.push(resolve)),
          new Promise((resolve) => setTimeout(resolve, 100)),
        ]);
      }
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

export type Mailbox = Awaited<ReturnType<typeof startMailbox>>;
