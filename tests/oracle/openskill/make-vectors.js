// SPDX-License-Identifier: MIT
// Writes the vectors that server/ladder/rating.c is held against; README.md
// here says what the lines mean. The same file comes out each time.
import { readFileSync } from "node:fs";
import { rate, rating } from "openskill";

const version = JSON.parse(readFileSync(
  new URL("node_modules/openskill/package.json", import.meta.url))).version;

// Xorshift of 32 bits: nothing outside decides what is drawn.
let state = 20111112;
function draw() {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 2 ** 32;
}
const below = (n) => Math.floor(draw() * n);
const between = (low, high) => low + draw() * (high - low);
const magnitude = (low, high) => Math.exp(between(Math.log(low), Math.log(high)));

const out = [];
let bots = [];

function begin(text, ratings) {
  out.push(`# ${text}`);
  bots = ratings;
  bots.forEach((bot, i) => out.push(`set ${i} ${bot.mu} ${bot.sigma}`));
}

function ranking(who, ranks) {
  out.push("rank " + who.map((bot, i) => `${bot}:${ranks[i]}`).join(" "));
  rate(who.map((bot) => [bots[bot]]), { rank: ranks })
    .forEach(([after], i) => { bots[who[i]] = after; });
}

function check() {
  bots.forEach((bot, i) => {
    if (!Number.isFinite(bot.mu) || !Number.isFinite(bot.sigma))
      throw new Error(`openskill itself is lost at bot ${i}`);
    out.push(`is ${i} ${bot.mu} ${bot.sigma}`);
  });
}

const everyone = () => bots.map((_, i) => i);
const fresh = (n) => Array.from({ length: n }, () => rating());

function shuffled(n) {
  const list = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = below(i + 1);
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}

// One ranking each.
for (let n = 2; n <= 8; n++) {
  begin(`${n} new bots, no ties`, fresh(n));
  ranking(everyone(), everyone());
  check();
  begin(`${n} new bots, all tied`, fresh(n));
  ranking(everyone(), bots.map(() => 0));
  check();
  for (let i = 0; i < 12; i++) {
    begin(`${n} bots, shuffled`,
      Array.from({ length: n }, () => ({ mu: between(0, 50), sigma: between(1, 9) })));
    ranking(everyone(), shuffled(n));
    check();
    begin(`${n} bots, ties`,
      Array.from({ length: n }, () => ({ mu: between(0, 50), sigma: between(1, 9) })));
    ranking(everyone(), bots.map(() => below(Math.max(2, n - 2)) * 3));
    check();
    begin(`${n} bots, extreme`, Array.from({ length: n }, () => (
      { mu: between(-1000, 1000), sigma: magnitude(1e-6, 1e3) })));
    ranking(everyone(), bots.map(() => below(n)));
    check();
  }
}
for (const n of [16, 33, 64]) {
  begin(`${n} bots, ties`,
    Array.from({ length: n }, () => ({ mu: between(0, 50), sigma: between(1, 9) })));
  ranking(everyone(), bots.map(() => below(n)));
  check();
}

// One result again and again.
for (const [text, ranks] of [
  ["the same bot wins", [0, 1]], ["two tie", [0, 0]],
  ["four in the same order", [0, 1, 2, 3]], ["one wins, three tie", [0, 1, 1, 1]],
  ["three tie before one", [0, 0, 0, 1]]]) {
  begin(`1000 times: ${text}`, ranks.map((_, i) => ({ mu: 25 + i, sigma: 25 / 3 - i })));
  for (let i = 1; i <= 1000; i++) {
    ranking(everyone(), ranks);
    if ([1, 10, 100, 500, 1000].includes(i))
      check();
  }
}

// Long lives: bots of different strength, fields of different size.
for (const [nbots, rounds, most] of [[2, 500, 2], [12, 2000, 4], [24, 2000, 8]]) {
  begin(`${rounds} rounds of ${nbots} bots`, fresh(nbots));
  for (let i = 1; i <= rounds; i++) {
    const who = shuffled(nbots).slice(0, 2 + below(most - 1));
    // Points are whole numbers, so that some tie.
    const points = who.map((bot) => Math.floor(bot / 2 + 8 * draw()));
    ranking(who, points.map((mine) => points.filter((other) => other > mine).length));
    if (i % (rounds / 4) === 0)
      check();
  }
}

console.log(`openskill ${version}`);
console.log(out.join("\n"));
