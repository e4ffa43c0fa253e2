// Ask the built site's own search worker, and print the first pages that it finds for each query.
//
//     node scripts/site_search.js build/site QUERY ...
"use strict"

const fs = require("fs")
const path = require("path")
const vm = require("vm")

const [site, ...queries] = process.argv.slice(2)
const workers = path.join(site, "assets/javascripts/workers")
const script = fs.readdirSync(workers).find((name) => /^search\.\w+\.min\.js$/.test(name))
const index = JSON.parse(fs.readFileSync(path.join(site, "search/search_index.json"), "utf8"))
const SETUP = 0, READY = 1, QUERY = 2, RESULT = 3

// A worker has these names; what it posts is taken here.
const listeners = []
let waiting = []
const scope = {
  addEventListener: (type, listener) => type === "message" && listeners.push(listener),
  postMessage: (message) => waiting.shift()(message),
  importScripts: () => {}, console, location: { href: "http://localhost/" }, URL,
  setTimeout, performance,
}
scope.self = scope.globalThis = scope
vm.runInNewContext(fs.readFileSync(path.join(workers, script), "utf8"), scope)

const ask = (message) => new Promise((resolve) => {
  waiting.push(resolve)
  listeners.forEach((listener) => listener({ data: message }))
})

const main = async () => {
  await ask({ type: SETUP, data: { ...index, options: { suggest: false } } })
  for (const query of queries) {
    const { data } = await ask({ type: QUERY, data: query })
    const found = data.items.slice(0, 5).map((group) => group.map(({ location, score }) => ({ location, score })))
    console.log(JSON.stringify({ query, found }))
  }
}
main()
