import type { Store } from '../../runtime/core/store/store.ts';

/** A schema whose inputs have every word of filters. */
export const SDL = `
  scalar DateTime scalar JSON scalar BigInt scalar Decimal
  enum Status { DRAFT LIVE } enum CaseMode { SENSITIVE INSENSITIVE }
  type Query { posts(where: PostFilter, limit: Int): [Post!]! people(where: PersonFilter): [Person!]! }
  type Person { id: ID! name: String! posts: [Post!]! }
  type Place { city: String zip: Int big: BigInt price: Decimal open: Boolean at: DateTime tags: [String!] inner: Place meta: JSON status: Status }
  type Post {
    id: ID! title: String status: Status views: Int tags: [String!] numbers: [Int!] flags: [Boolean!] states: [Status!]
    meta: JSON place: Place author: Person comments: [Comment!]!
  }
  type Comment { id: ID! text: String! post: Post! }
  input PostFilter {
    id: IdWords title: TextWords status: StatusWords views: IntWords tags: TagWords numbers: NumberWords flags: FlagWords states: StateWords
    meta: JsonWords place: PlaceFilter author: PersonFilter comments: CommentMany
    and: [PostFilter!] or: [PostFilter!] not: PostFilter
  }
  input PersonFilter { name: TextWords posts: PostMany isNull: Boolean and: [PersonFilter!] or: [PersonFilter!] not: PersonFilter }
  input PostMany { some: PostFilter every: PostFilter none: PostFilter count: IntWords and: [PostMany!] or: [PostMany!] not: PostMany }
  input CommentFilter { text: TextWords post: PostFilter }
  input CommentMany { some: CommentFilter every: CommentFilter none: CommentFilter count: IntWords }
  input IdWords { eq: ID ne: ID in: [ID] notIn: [ID] isNull: Boolean contains: String }
  input TextWords { eq: String ne: String in: [String] notIn: [String] isNull: Boolean lt: String lte: String gt: String gte: String contains: String startsWith: String endsWith: String mode: CaseMode and: [TextWords!] or: [TextWords!] not: TextWords }
  input StatusWords { eq: Status ne: Status in: [Status] notIn: [Status] isNull: Boolean }
  input IntWords { eq: Int ne: Int in: [Int] notIn: [Int] isNull: Boolean lt: Int lte: Int gt: Int gte: Int not: IntWords }
  input TimeWords { eq: DateTime ne: DateTime in: [DateTime] lt: DateTime gte: DateTime isNull: Boolean }
  input BigWords { eq: BigInt lt: BigInt in: [BigInt] } input DecimalWords { eq: Decimal gt: Decimal ne: Decimal }
  input FlagWord { eq: Boolean ne: Boolean }
  input TagWords { has: String hasSome: [String] hasEvery: [String] isEmpty: Boolean eq: [String] ne: [String] isNull: Boolean not: TagWords }
  input NumberWords { has: Int hasSome: [Int!] hasEvery: [Int!] isEmpty: Boolean eq: [Int!] }
  input FlagWords { has: Boolean hasSome: [Boolean!] hasEvery: [Boolean!] isEmpty: Boolean eq: [Boolean!] }
  input StateWords { has: Status hasSome: [Status!] hasEvery: [Status!] isEmpty: Boolean eq: [Status!] }
  input JsonWords { path: [String!] eq: JSON ne: JSON in: [JSON] notIn: [JSON] isNull: Boolean lt: JSON lte: JSON gt: JSON gte: JSON contains: String startsWith: String endsWith: String mode: CaseMode has: JSON hasSome: [JSON] hasEvery: [JSON] isEmpty: Boolean not: JsonWords }
  input PlaceFilter { city: TextWords zip: IntWords big: BigWords price: DecimalWords open: FlagWord at: TimeWords tags: TagWords inner: PlaceFilter meta: JsonWords status: StatusWords isNull: Boolean and: [PlaceFilter!] or: [PlaceFilter!] not: PlaceFilter }
`;

type Row = Readonly<Record<string, unknown>>;

/** Puts rows into a table in their order; objects and lists become JSON. */
export async function insert(store: Store, table: string, rows: readonly Row[]) {
  const json = (key: string, value: unknown) =>
    (typeof value === 'object' || key === 'meta') && value !== null ? JSON.stringify(value) : value;
  for (const row of rows)
    await store.db
      .insertInto(table)
      .values(
        Object.fromEntries(Object.entries(row).map(([key, value]) => [key, json(key, value)])),
      )
      .execute();
}
