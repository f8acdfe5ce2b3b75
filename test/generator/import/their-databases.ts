/** Databases as others have them, made small: the facts of their schemas in our words. */
export interface TheirDatabase {
  readonly name: string;
  readonly dialect: 'sqlite' | 'postgres';
  readonly schemas?: readonly string[];
  readonly statements: readonly string[];
}

/** A music shop: names in PascalCase, a join table, employees that report to each other. */
const chinook = (serial: string, text: string) => [
  `create table "Artist" ("ArtistId" ${serial}, "Name" ${text}(120))`,
  `create table "Album" ("AlbumId" ${serial}, "Title" ${text}(160) not null, "ArtistId" integer not null references "Artist" ("ArtistId"))`,
  `create table "Genre" ("GenreId" ${serial}, "Name" ${text}(120))`,
  `create table "Employee" ("EmployeeId" ${serial}, "LastName" ${text}(20) not null, "ReportsTo" integer references "Employee" ("EmployeeId"))`,
  `create table "Track" ("TrackId" ${serial}, "Name" ${text}(200) not null, "AlbumId" integer references "Album" ("AlbumId"), "GenreId" integer references "Genre" ("GenreId"), "Milliseconds" integer not null, "UnitPrice" numeric(10,2) not null)`,
  `create table "Playlist" ("PlaylistId" ${serial}, "Name" ${text}(120))`,
  `create table "PlaylistTrack" ("PlaylistId" integer not null references "Playlist" ("PlaylistId"), "TrackId" integer not null references "Track" ("TrackId"), primary key ("PlaylistId", "TrackId"))`,
  `insert into "Artist" ("ArtistId", "Name") values (1, 'AC/DC'), (2, 'Accept')`,
  `insert into "Album" ("AlbumId", "Title", "ArtistId") values (1, 'Rock', 1), (2, 'Balls', 2), (3, 'Restless', 2)`,
  `insert into "Employee" ("EmployeeId", "LastName", "ReportsTo") values (1, 'Adams', null), (2, 'Edwards', 1)`,
  `insert into "Track" ("TrackId", "Name", "AlbumId", "Milliseconds", "UnitPrice") values (1, 'For Those', 1, 343719, 0.99), (2, 'Fast', 3, 230619, 1.10)`,
  `insert into "Playlist" ("PlaylistId", "Name") values (1, 'Music')`,
  `insert into "PlaylistTrack" values (1, 1), (1, 2)`,
];

/** A video rental: enum, domain, array, generated texts, two keys to one table, a view, partitions, triggers. */
const pagila = [
  `create type mpaa_rating as enum ('G', 'PG', 'PG-13', 'R', 'NC-17')`,
  `create domain year as integer check (value >= 1901 and value <= 2155)`,
  `create table language (language_id serial primary key, name character(20) not null, last_update timestamp not null default now())`,
  `create table actor (actor_id serial primary key, first_name varchar(45) not null, last_name varchar(45) not null)`,
  `create table film (film_id serial primary key, title varchar(255) not null, release_year year, language_id integer not null references language, original_language_id integer references language,
    rental_rate numeric(4,2) not null default 4.99, length smallint check (length >= 1 and length <= 900), rating mpaa_rating default 'G', special_features text[], fulltext tsvector)`,
  `create table film_actor (actor_id integer not null references actor, film_id integer not null references film, last_update timestamp not null default now(), primary key (actor_id, film_id))`,
  `create table customer (customer_id serial primary key, email varchar(50) unique, active boolean not null default true, password_hash text)`,
  `create table payment (payment_id integer not null, amount numeric(5,2) not null, payment_date date not null, primary key (payment_date, payment_id)) partition by range (payment_date)`,
  `create table payment_2022 partition of payment for values from ('2022-01-01') to ('2023-01-01')`,
  `create view film_list as select f.film_id as fid, f.title, f.rental_rate as price from film f`,
  `create materialized view rental_by_rating as select rating, count(*) as films from film group by rating`,
  `create function last_updated() returns trigger language plpgsql as $$ begin new.last_update = now(); return new; end $$`,
  `create trigger last_updated before update on language for each row execute function last_updated()`,
  `create index film_fulltext on film using gin (fulltext)`,
  `insert into language (name) values ('English'), ('Italian')`,
  `insert into actor (first_name, last_name) values ('PENELOPE', 'GUINESS')`,
  `insert into film (title, release_year, language_id, original_language_id, length, rating, special_features, fulltext) values ('ACADEMY DINOSAUR', 2006, 1, 2, 86, 'PG-13', '{Trailers,"Deleted Scenes"}', to_tsvector('dinosaur'))`,
  `insert into film_actor (actor_id, film_id) values (1, 1)`,
  `insert into customer (email, password_hash) values ('a@x.test', 'h')`,
  `insert into payment values (1, 2.99, '2022-02-01'), (2, 0.99, '2022-03-01')`,
  `refresh materialized view rental_by_rating`,
];

/** A trader: names with spaces, keys of text, composite keys. */
const northwind = [
  `create table "Customers" ("CustomerID" text primary key, "CompanyName" text not null)`,
  `create table "Products" ("ProductID" integer primary key autoincrement, "ProductName" text not null, "UnitPrice" numeric default 0 check ("UnitPrice" >= 0), "Discontinued" boolean not null default 0)`,
  `create table "Orders" ("OrderID" integer primary key autoincrement, "CustomerID" text references "Customers" ("CustomerID"), "OrderDate" datetime)`,
  `create table "Order Details" ("OrderID" integer not null references "Orders" ("OrderID"), "ProductID" integer not null references "Products" ("ProductID"), "Quantity" integer not null default 1, primary key ("OrderID", "ProductID"))`,
  `create view "Products Above Average Price" as select "ProductName", "UnitPrice" from "Products" where "UnitPrice" > 10`,
  `insert into "Customers" values ('ALFKI', 'Alfreds'), ('ANATR', 'Ana')`,
  `insert into "Products" ("ProductName", "UnitPrice") values ('Chai', 18), ('Syrup', 10)`,
  `insert into "Orders" ("CustomerID", "OrderDate") values ('ALFKI', '2016-07-04T00:00:00.000Z')`,
  `insert into "Order Details" values (1, 1, 12), (1, 2, 10)`,
];

/** Two schemas, keys of several columns, mixed case, reserved words, a trigger, and very many tables. */
const ugly = (count: number) => [
  `create schema music`,
  `create table region (country text, code text, name text, primary key (country, code))`,
  `create table "City" (id bigint generated always as identity primary key, country text, region_code text, "select" text, foreign key (country, region_code) references region (country, code))`,
  `create table music."Track" ("TrackId" uuid primary key default gen_random_uuid(), "order" integer unique, city bigint references "City")`,
  `create table music.region (id integer primary key, label text)`,
  `create table nokey (a text, b integer)`,
  `create function keep() returns trigger language plpgsql as $$ begin return new; end $$`,
  `create trigger keep before update on "City" for each row execute function keep()`,
  `create view "both" as select r.name, c.id from region r join "City" c using (country)`,
  `insert into region values ('DE', 'BY', 'Bayern'), ('a:b', 'c%d', 'odd')`,
  `insert into "City" (country, region_code, "select") values ('DE', 'BY', 'x'), ('a:b', 'c%d', null)`,
  `insert into music."Track" ("order", city) values (1, 1)`,
  `insert into music.region values (1, 'other')`,
  `insert into nokey values ('a', 1), ('a', 1)`,
  ...Array.from(
    { length: count },
    (_, at) =>
      `create table many_${at} (id serial primary key, name text not null, other_id integer references many_${Math.max(at - 1, 0)} (id), made timestamptz(3) default now(), unique (name, other_id))`,
  ),
];

export const theirDatabases = (count: number): readonly TheirDatabase[] => [
  {
    name: 'Chinook',
    dialect: 'sqlite',
    statements: chinook('integer primary key', 'nvarchar'),
  },
  { name: 'Chinook', dialect: 'postgres', statements: chinook('serial primary key', 'varchar') },
  { name: 'Pagila', dialect: 'postgres', statements: pagila },
  { name: 'Northwind', dialect: 'sqlite', statements: northwind },
  {
    name: `an ugly one of ${count + 6} tables`,
    dialect: 'postgres',
    schemas: ['public', 'music'],
    statements: ugly(count),
  },
];
