/**
 * A database as others make it: mixed case, spaces, reserved words, composite and natural keys,
 * two schemas (on PostgreSQL), triggers, views, generated columns.
 */
export const SDL = `
scalar BigInt scalar Decimal scalar DateTime scalar Date scalar UUID scalar JSON
type Album @table(name: "Album", schema: "music") {
  id: ID! @column(name: "AlbumId")
  title: String! @column(name: "Title")
  tracks: [Track!]!
}
type Track @table(name: "Track", schema: "music") {
  id: ID! @column(name: "TrackId")
  name: String! @column(name: "Name") @constraint(maxLength: 200)
  unitPrice: Decimal! @column(name: "Unit Price", type: "numeric(10,2)") @default(expr: DATABASE)
  plays: BigInt @column(name: "order")
  seconds: Int @column(name: "Seconds", readOnly: true)
  rating: Rating @column(name: "Rating")
  labels: [String!] @column(name: "Labels", type: "text[]")
  stamped: String @column(name: "Stamped")
  album: Album @relation(column: "AlbumId")
  playlists: [Playlist!]! @relation(table: "PlaylistTrack", schema: "music", columns: ["TrackId", "PlaylistId"])
}
enum Rating @column(type: "mpaa_rating") { G PG PG_13 @column(name: "PG-13") }
type Playlist @table(name: "Playlist", schema: "music") {
  id: ID! @column(name: "PlaylistId")
  name: String @column(name: "Name")
  tracks: [Track!]!
  entries: [PlaylistTrack!]!
}
type PlaylistTrack @table(name: "PlaylistTrack", schema: "music", key: ["playlist", "track"]) {
  id: ID!
  playlist: Playlist! @relation(column: "PlaylistId", inverse: "entries")
  track: Track! @relation(column: "TrackId")
}
type Region @table(name: "region", key: ["country", "code"]) {
  id: ID! country: String! code: String! name: String cities: [City!]!
}
type City @table(name: "city") {
  id: ID! name: String! region: Region @relation(columns: ["country", "region_code"])
}
type Product @table(name: "product", key: ["sku"]) { sku: String! title: String! stock: Int! @default(expr: DATABASE) parts: [Part!]! }
type Part @table(name: "part") { id: ID! @column(type: "varchar(10)") label: String! product: Product! @relation(column: "product_sku") replaces: Part @relation(column: "replaces_id") }
type Device @table(name: "device") { id: ID! name: String! @unique owner: Person @relation(column: "owner_name", references: ["name"]) }
type Person @table(name: "person") { id: ID! @column(type: "integer") name: String! @unique devices: [Device!]! }
type TopTrack @table(name: "top_tracks", schema: "music", view: true) { title: String plays: BigInt }
type Log @table(name: "log", view: true) { line: String id: Int }
type Query {
  track(id: ID!): Track
  tracks(where: TrackFilter, orderBy: TrackOrder, limit: Int, offset: Int): [Track!]!
  tracksConnection(first: Int, after: String, orderBy: TrackOrder): TrackConnection!
  album(id: ID!): Album
  albums: [Album!]!
  region(id: ID!): Region
  regions: [Region!]!
  regionsConnection(first: Int, after: String, last: Int, before: String): RegionConnection!
  city(id: ID!): City
  cities(where: CityFilter): [City!]!
  playlistTrack(id: ID!): PlaylistTrack
  playlistTracks: [PlaylistTrack!]!
  playlists: [Playlist!]!
  product(sku: String!): Product
  products: [Product!]!
  part(id: ID!): Part
  person(id: ID!): Person
  device(id: ID!): Device
  topTracks(limit: Int, offset: Int): [TopTrack!]!
  logs(limit: Int, offset: Int): [Log!]!
}
type TrackConnection { edges: [TrackEdge!]! pageInfo: PageInfo! totalCount: Int! }
type TrackEdge { node: Track! cursor: String! }
type RegionConnection { edges: [RegionEdge!]! pageInfo: PageInfo! totalCount: Int! }
type RegionEdge { node: Region! cursor: String! }
type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
input TrackFilter { plays: BigIntFilter unitPrice: DecimalFilter rating: RatingFilter album: AlbumFilter id: IdFilter }
input AlbumFilter { title: TextFilter }
input TextFilter { eq: String }
input IdFilter { eq: ID in: [ID!] }
input BigIntFilter { eq: BigInt gt: BigInt in: [BigInt!] }
input DecimalFilter { eq: Decimal gte: Decimal }
input RatingFilter { eq: Rating in: [Rating!] }
input CityFilter { region: RegionFilter regionId: IdFilter name: TextFilter }
input RegionFilter { name: TextFilter id: IdFilter }
input TrackOrder { plays: Direction unitPrice: Direction name: Direction }
enum Direction { ASC DESC }
input NewTrack { name: String! unitPrice: Decimal plays: BigInt rating: Rating albumId: ID labels: [String!] }
input TrackPatch { name: String unitPrice: Decimal plays: BigInt rating: Rating albumId: ID labels: [String!] }
input NewRegion { country: String! code: String! name: String }
input RegionPatch { name: String }
input NewCity { name: String! regionId: ID }
input CityPatch { name: String regionId: ID }
input NewPlaylistTrack { playlistId: ID! trackId: ID! }
input NewProduct { sku: String! title: String! stock: Int }
input ProductPatch { title: String stock: Int }
input NewPart { id: ID! label: String! productId: ID! }
input NewPerson { id: ID! name: String! }
input NewDevice { name: String! ownerId: ID }
type Mutation {
  createTrack(input: NewTrack!): Track
  updateTrack(id: ID!, input: TrackPatch!): Track
  deleteTrack(id: ID!): Boolean
  createRegion(input: NewRegion!): Region
  updateRegion(id: ID!, input: RegionPatch!): Region
  deleteRegion(id: ID!): Boolean
  createCity(input: NewCity!): City
  updateCity(id: ID!, input: CityPatch!): City
  createPlaylistTrack(input: NewPlaylistTrack!): PlaylistTrack
  deletePlaylistTrack(id: ID!): Boolean
  createProduct(input: NewProduct!): Product
  updateProduct(sku: String!, input: ProductPatch!): Product
  deleteProduct(sku: String!): Boolean
  createPart(input: NewPart!): Part
  createPerson(input: NewPerson!): Person
  createDevice(input: NewDevice!): Device
}
`;

/** Statements that make it; `T` are triggers, whose bodies have semicolons. */
export const TABLES: Readonly<Record<'sqlite' | 'postgres', readonly string[]>> = {
  sqlite: [
    `create table "Album" ("AlbumId" integer primary key, "Title" text not null)`,
    `create table "Track" ("TrackId" integer primary key, "Name" varchar(200) not null, "Unit Price" text not null default '0.99', "order" bigint, "Seconds" integer generated always as (length("Name") * 10) virtual, "Rating" text check ("Rating" in ('G', 'PG', 'PG-13')), "Labels" text, "Stamped" text, "AlbumId" integer references "Album" ("AlbumId"))`,
    `create table "Playlist" ("PlaylistId" integer primary key, "Name" text)`,
    `create table "PlaylistTrack" ("PlaylistId" integer not null references "Playlist", "TrackId" integer not null references "Track", primary key ("PlaylistId", "TrackId"))`,
    `create trigger stamp after insert on "Track" begin update "Track" set "Stamped" = 'by trigger' where "TrackId" = new."TrackId"; end`,
    `create trigger swallow before insert on "Track" when new."Name" = 'swallow' begin select raise(ignore); end`,
    `create trigger refuse before insert on "Track" when new."Name" = 'refuse' begin select raise(abort, 'we do not sell that'); end`,
    `create view top_tracks as select "Name" as title, "order" as plays from "Track" where "order" > 10`,
  ],
  postgres: [
    `create schema music`,
    `create type mpaa_rating as enum ('G', 'PG', 'PG-13')`,
    `create table music."Album" ("AlbumId" serial primary key, "Title" text not null)`,
    `create table music."Track" ("TrackId" serial primary key, "Name" varchar(200) not null, "Unit Price" numeric(10,2) not null default 0.99, "order" bigint, "Seconds" integer generated always as (length("Name") * 10) stored, "Rating" mpaa_rating, "Labels" text[], "Stamped" text, "AlbumId" integer references music."Album")`,
    `create table music."Playlist" ("PlaylistId" bigint generated always as identity primary key, "Name" text)`,
    `create table music."PlaylistTrack" ("PlaylistId" bigint not null references music."Playlist", "TrackId" integer not null references music."Track", primary key ("PlaylistId", "TrackId"))`,
    `create function stamp() returns trigger language plpgsql as $$ begin update music."Track" set "Stamped" = 'by trigger' where "TrackId" = new."TrackId"; return null; end $$`,
    `create function guard() returns trigger language plpgsql as $$ begin if new."Name" = 'swallow' then return null; end if; if new."Name" = 'refuse' then raise exception 'we do not sell that'; end if; return new; end $$`,
    `create trigger stamp after insert on music."Track" for each row execute function stamp()`,
    `create trigger guard before insert on music."Track" for each row execute function guard()`,
    `create view music.top_tracks as select "Name" as title, "order" as plays from music."Track" where "order" > 10`,
  ],
};

/** The tables that are alike in both. */
export const SHARED = [
  `create table region (country varchar(2) not null, code varchar(20) not null, name text, primary key (country, code))`,
  `create table city (id integer primary key, name text not null, country varchar(2), region_code varchar(20), foreign key (country, region_code) references region (country, code))`,
  `create table product (sku varchar(20) primary key, title text not null, stock integer not null default 7 check (stock >= 0))`,
  `create table part (id varchar(10) primary key, label text not null, product_sku varchar(20) not null references product, replaces_id varchar(10) references part)`,
  `create table person (id integer primary key, name text not null unique)`,
  `create table device (id integer primary key, name text not null unique, owner_name text references person (name))`,
  `create table log (line text, id integer)`,
];

export const ROWS = (schema: string) => [
  `insert into ${schema}"Album" ("Title") values ('Blue'), ('Red')`,
  `insert into ${schema}"Track" ("Name", "Unit Price", "order", "Rating", "AlbumId") values ('One', '0.10', 9223372036854775807, 'PG-13', 1), ('Two', '10.00', 9223372036854775806, 'G', 1), ('Three', '9.50', 5, null, null)`,
  `insert into ${schema}"Playlist" ("Name") values ('Morning'), ('Night')`,
  `insert into ${schema}"PlaylistTrack" values (1, 1), (1, 2), (2, 2)`,
  `insert into region values ('DE', 'BY', 'Bavaria'), ('DE', 'B:E', 'Berlin'), ('AT', '9 %/ü', 'Vienna'), ('AT', '1', 'Burgenland')`,
  `insert into city values (1, 'Munich', 'DE', 'BY'), (2, 'Berlin', 'DE', 'B:E'), (3, 'Vienna', 'AT', '9 %/ü'), (4, 'Nowhere', null, null)`,
  `insert into product (sku, title) values ('A-1', 'Anvil'), ('b 2', 'Bolt')`,
  `insert into part values ('p1', 'head', 'A-1', null), ('p2', 'new head', 'A-1', 'p1')`,
  `insert into person values (1, 'Ada'), (2, 'Bob')`,
  `insert into device values (1, 'phone', 'Ada'), (2, 'tablet', 'Ada'), (3, 'spare', null)`,
  `insert into log values ('x', 1), ('y', 2), ('y', 2)`,
];
