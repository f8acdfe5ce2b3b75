import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** What the two servers of a move make of its key, so that none of them has to be sent. */
export interface MoveTokens {
  /** The source asks the target with it to keep the app. */
  readonly proof: string;
  /** The target's answer, which only a server that has received the key can give. */
  readonly answer: string;
  /** In each request that the source passes on, so that the target believes its client's address. */
  readonly forward: string;
}

export function tokensOf(key: Buffer, move: string): MoveTokens {
  const of = (use: string) =>
    createHmac('sha256', key).update(`twofold-move ${use} ${move}`).digest('base64url');
  return { proof: of('keep'), answer: of('kept'), forward: of('forward') };
}

export const digestOf = (token: string): string =>
  createHash('sha256').update(token).digest('base64url');

/** Whether this is the token of the digest; the time that it takes says nothing. */
export const matchesDigest = (token: string, digest: string): boolean => {
  const [given, wanted] = [Buffer.from(digestOf(token)), Buffer.from(digest)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
};
