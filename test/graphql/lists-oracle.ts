import type { Random } from './random-schema.ts';

/** Rows and rules in plain JavaScript, against which the answers of the server are held. */
export interface Author {
  readonly id: number;
  readonly name: string | null;
  readonly score: number | null;
  readonly hidden: boolean;
  readonly boss: number | null;
}

export interface Post {
  readonly id: number;
  readonly title: string;
  readonly views: number | null;
  readonly price: string | null;
  readonly author: number | null;
}

export interface Comment {
  readonly id: number;
  text: string;
  readonly hidden: boolean;
  readonly locked: boolean;
  post: number | null;
}

export interface Tag {
  readonly id: number;
  name: string;
  readonly secret: boolean;
}

export interface World {
  readonly authors: readonly Author[];
  readonly posts: readonly Post[];
  comments: Comment[];
  tags: Tag[];
  /** `post:tag` */
  pairs: Set<string>;
}

const maybe = <T>(random: Random, value: T): T | null => (random.chance(0.25) ? null : value);

export function randomRows(random: Random): World {
  const count = (most: number) =>
    Array.from({ length: 2 + random.below(most) }, (_, index) => index + 1);
  const authors = count(5).map((id) => ({
    id,
    name: maybe(random, random.pick(['ann', 'bob', 'cid'])),
    score: maybe(random, random.below(3)),
    hidden: random.chance(0.3),
    boss: id > 1 && random.chance(0.6) ? 1 + random.below(id - 1) : null,
  }));
  const posts = count(12).map((id) => ({
    id,
    title: random.pick(['p', 'q', 'r']),
    views: maybe(random, random.below(3)),
    price: maybe(random, random.pick(['1.50', '1.5', '9', '10'])),
    author: maybe(random, 1 + random.below(authors.length)),
  }));
  const comments = count(20).map((id) => ({
    id,
    text: `c${id}`,
    hidden: random.chance(0.3),
    locked: random.chance(0.2),
    post: maybe(random, 1 + random.below(posts.length)),
  }));
  const tags = count(5).map((id) => ({ id, name: `t${id}`, secret: random.chance(0.3) }));
  const pairs = new Set(
    tags.flatMap(({ id }) =>
      posts.filter(() => random.chance(0.3)).map((post) => `${post.id}:${id}`),
    ),
  );
  return { authors, posts, comments, tags, pairs };
}

type Value = number | string | boolean | null;

/** What a caller sees of a world. */
export class Seen {
  readonly #world: World;
  readonly #admin: boolean;

  constructor(world: World, admin: boolean) {
    this.#world = world;
    this.#admin = admin;
  }

  author(id: number | null): Author | undefined {
    const found = this.#world.authors.find((each) => each.id === id);
    return found && (this.#admin || !found.hidden) ? found : undefined;
  }

  comments(post: number): readonly Comment[] {
    return this.#world.comments.filter(
      (each) => each.post === post && (this.#admin || !each.hidden),
    );
  }

  tags(post: number): readonly Tag[] {
    return this.#world.tags.filter(
      (each) => this.#world.pairs.has(`${post}:${each.id}`) && (this.#admin || !each.secret),
    );
  }

  /** Comments that are `hot`: with an even number in their text, or not locked and the first. */
  hot(post: number): boolean {
    return this.comments(post).some(
      ({ text, locked }) => text === 'c2' || !(locked || text > 'c3'),
    );
  }

  published(author: Author): number {
    return this.#world.posts.filter((post) => post.author === author.id && (post.views ?? -1) >= 1)
      .length;
  }
}

/** One way to sort posts: as the API takes it, and what it compares. */
export interface Term {
  readonly written: object;
  readonly descending: boolean;
  readonly nulls: 'first' | 'last' | undefined;
  value(post: Post, seen: Seen): Value;
}

type Way = { written(direction: unknown): object; value: Term['value']; takesNulls?: true };

const WAYS: readonly Way[] = [
  { written: (title) => ({ title }), value: ({ title }) => title },
  { written: (views) => ({ views }), value: ({ views }) => views, takesNulls: true },
  { written: (price) => ({ price }), value: ({ price }) => price && Number(price) },
  {
    written: (name) => ({ author: { name } }),
    value: ({ author }, seen) => seen.author(author)?.name ?? null,
  },
  {
    written: (score) => ({ author: { score } }),
    value: ({ author }, seen) => seen.author(author)?.score ?? null,
    takesNulls: true,
  },
  {
    written: (name) => ({ author: { boss: { name } } }),
    value: ({ author }, seen) => seen.author(seen.author(author)?.boss ?? null)?.name ?? null,
  },
  {
    written: (count) => ({ author: { publishedPosts: { count } } }),
    value: ({ author }, seen) => {
      const found = seen.author(author);
      return found ? seen.published(found) : null;
    },
  },
  {
    written: (count) => ({ comments: { count } }),
    value: ({ id }, seen) => seen.comments(id).length,
  },
  { written: (count) => ({ tags: { count } }), value: ({ id }, seen) => seen.tags(id).length },
  {
    written: (commentsCount) => ({ commentsCount }),
    value: ({ id }, seen) => seen.comments(id).length,
  },
  { written: (hot) => ({ hot }), value: ({ id }, seen) => seen.hot(id) },
];

export function randomOrder(random: Random): Term[] {
  return Array.from({ length: random.below(4) }, () => {
    const way = random.pick(WAYS);
    const descending = random.chance(0.5);
    const nulls =
      way.takesNulls && random.chance(0.5) ? random.pick(['first', 'last'] as const) : undefined;
    const direction = descending ? 'DESC' : 'ASC';
    return {
      written: way.written(
        way.takesNulls ? { direction, ...(nulls && { nulls: nulls.toUpperCase() }) } : direction,
      ),
      descending,
      nulls,
      value: way.value,
    };
  });
}

/** Fields whose combinations are left once: the words of the enum, and their values. */
export const DISTINCT: Readonly<Record<string, Term['value']>> = {
  AUTHOR: ({ author }, seen) => seen.author(author)?.id ?? null,
  VIEWS: ({ views }) => views,
  price: ({ price }) => price && Number(price),
  TITLE: ({ title }) => title,
};

/** The posts in order, one of each combination. Equal ones are in the order of their keys. */
export function sorted(
  posts: readonly Post[],
  seen: Seen,
  { order, distinct }: { readonly order: readonly Term[]; readonly distinct: readonly string[] },
): Post[] {
  const all = posts.toSorted((a, b) => {
    for (const term of order) {
      const found = compare(term.value(a, seen), term.value(b, seen), term);
      if (found !== 0) return found;
    }
    return a.id - b.id;
  });
  const met = new Set<string>();
  const keyOf = (post: Post) => JSON.stringify(distinct.map((word) => DISTINCT[word]!(post, seen)));
  return distinct.length === 0
    ? all
    : all.filter((post) => !met.has(keyOf(post)) && met.add(keyOf(post)));
}

function compare(a: Value, b: Value, { descending, nulls }: Term): number {
  if (a === b) return 0;
  const first = nulls ? nulls === 'first' : descending;
  if (a === null) return first ? -1 : 1;
  if (b === null) return first ? 1 : -1;
  const up = a < b ? -1 : 1;
  return descending ? -up : up;
}
