import type { Comment, Tag, World } from './lists-oracle.ts';
import type { Random } from './random-schema.ts';

/** A nested input, as the API takes it. */
export interface NestedInput {
  readonly comments?: Readonly<Record<string, readonly any[]>>;
  readonly tags?: Readonly<Record<string, readonly any[]>>;
}

let made = 0;
const fresh = (letter: string) => `${letter}${(made += 1)}`;

export function randomNested(random: Random, { comments, tags }: World): NestedInput {
  const some = <T>(list: readonly T[]): T[] =>
    Array.from({ length: 1 + random.below(2) }, () => random.pick(list));
  const key = () => ({ id: String(1 + random.below(comments.length + 2)) });
  const pick = (parts: Readonly<Record<string, () => readonly any[]>>) =>
    Object.fromEntries(
      Object.entries(parts).flatMap(([name, part]) => (random.chance(0.3) ? [[name, part()]] : [])),
    );
  const tagKey = () => {
    const tag = random.pick([...tags, { id: 99, name: 'none' }]);
    return random.chance(0.5) ? { name: tag.name } : { id: String(tag.id) };
  };
  return {
    comments: pick({
      disconnect: () => some([key()]),
      delete: () => some([key()]),
      set: () => (random.chance(0.3) ? [] : [key(), key()]),
      connect: () => [key()],
      update: () => [{ where: key(), data: { text: fresh('u') } }],
      create: () => [{ text: fresh('n') }],
    }),
    tags: pick({
      disconnect: () => [tagKey()],
      delete: () => [tagKey()],
      set: () => (random.chance(0.3) ? [] : [tagKey(), tagKey()]),
      connect: () => [tagKey()],
      connectOrCreate: () => [
        {
          where: { name: random.chance(0.5) ? (random.pick(tags)?.name ?? 'x') : fresh('o') },
          create: {},
        },
      ],
      update: () => [{ where: tagKey(), data: { name: fresh('v') } }],
      create: () => [{ name: fresh('w') }],
    }),
  };
}

export class Refused extends Error {}

const refuse = (code: 'BAD_USER_INPUT' | 'FORBIDDEN'): never => {
  throw new Refused(code);
};

/** Writes below a post as the contract says, in its order; a throw leaves a world that is not used. */
export function applyNested(world: World, post: number, input: NestedInput, admin: boolean): void {
  if (input.comments) writeComments(world, { post, admin }, input.comments);
  if (input.tags) writeTags(world, { post, admin }, input.tags);
}

interface Place {
  readonly post: number;
  readonly admin: boolean;
}

type Parts = Readonly<Record<string, readonly any[]>>;

/** The key is in the other table: linking and unlinking are updates of the row. */
function writeComments(world: World, { post, admin }: Place, parts: Parts): void {
  const visible = ({ hidden }: Comment) => admin || !hidden;
  const one = ({ id }: { id: string }): Comment =>
    world.comments.find((each) => String(each.id) === id && visible(each)) ??
    refuse('BAD_USER_INPUT');
  const own = (key: { id: string }): Comment => {
    const found = one(key);
    return found.post === post ? found : refuse('BAD_USER_INPUT');
  };
  const change = (comment: Comment, to: Partial<Comment>) => {
    if (comment.locked && !admin) refuse('FORBIDDEN');
    Object.assign(comment, to);
  };
  const link = (comment: Comment) => comment.post === post || change(comment, { post });
  const named = (list: readonly { id: string }[] = []) => new Set(list.map(({ id }) => id));
  const unlink = (is: (id: string) => boolean) => {
    for (const each of world.comments)
      if (each.post === post && visible(each) && is(String(each.id))) change(each, { post: null });
  };
  if (parts['disconnect']) unlink((id) => named(parts['disconnect'] as any).has(id));
  for (const key of parts['delete'] ?? []) {
    const found = own(key);
    change(found, {});
    world.comments = world.comments.filter((each) => each !== found);
  }
  if (parts['set']) {
    const targets = (parts['set'] as any[]).map(one);
    unlink((id) => !named(parts['set'] as any).has(id));
    targets.forEach(link);
  }
  for (const key of parts['connect'] ?? []) link(one(key));
  for (const { where, data } of parts['update'] ?? []) change(own(where), data);
  for (const { text } of parts['create'] ?? [])
    world.comments.push({
      id: 1000 + world.comments.length,
      text,
      hidden: false,
      locked: false,
      post,
    });
}

/** A join table: linking and unlinking change no row. */
function writeTags(world: World, { post, admin }: Place, parts: Parts): void {
  const visible = ({ secret }: Tag) => admin || !secret;
  const find = (key: { id?: string; name?: string }) =>
    world.tags.find((each) =>
      key.name === undefined ? String(each.id) === key.id : each.name === key.name,
    );
  const one = (key: { id?: string; name?: string }): Tag => {
    const found = find(key);
    return found && visible(found) ? found : refuse('BAD_USER_INPUT');
  };
  const pair = ({ id }: Tag) => `${post}:${id}`;
  const own = (key: object): Tag => {
    const found = one(key);
    return world.pairs.has(pair(found)) ? found : refuse('BAD_USER_INPUT');
  };
  const add = (name: string) => {
    const tag = { id: 1000 + world.tags.length + world.pairs.size, name, secret: false };
    world.tags.push(tag);
    world.pairs.add(pair(tag));
  };
  for (const key of parts['disconnect'] ?? []) {
    const found = find(key);
    if (found && visible(found)) world.pairs.delete(pair(found));
  }
  for (const key of parts['delete'] ?? []) {
    const found = own(key);
    world.tags = world.tags.filter((each) => each !== found);
    world.pairs = new Set([...world.pairs].filter((each) => !each.endsWith(`:${found.id}`)));
  }
  if (parts['set']) {
    const targets = (parts['set'] as any[]).map(one);
    for (const each of world.tags)
      if (visible(each) && !targets.includes(each)) world.pairs.delete(pair(each));
    for (const each of targets) world.pairs.add(pair(each));
  }
  for (const key of parts['connect'] ?? []) world.pairs.add(pair(one(key)));
  for (const { where } of parts['connectOrCreate'] ?? []) {
    const found = find(where);
    // A row that they may not read is for them as one that never was, but its key is taken.
    if (found && !visible(found)) throw new Refused('CONFLICT');
    if (found) world.pairs.add(pair(found));
    else add(where.name);
  }
  for (const { where, data } of parts['update'] ?? []) own(where).name = data.name;
  for (const { name } of parts['create'] ?? []) add(name);
}
