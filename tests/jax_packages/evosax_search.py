"""Two evolution strategies of evosax on a quadratic function."""

import jax
import jax.numpy as jnp
from evosax.algorithms import CMA_ES, Open_ES


def search(strategy):
    found = strategy(population_size=12, solution=jnp.zeros(3))
    params = found.default_params
    key = jax.random.key(0)
    state = found.init(key, jnp.zeros(3), params)
    for _ in range(5):
        key, ask, tell = jax.random.split(key, 3)
        population, state = found.ask(ask, state, params)
        fitness = jnp.sum((population - 1.0) ** 2, axis=1)
        state, _ = found.tell(tell, population, fitness, state, params)
    return state.best_solution, state.best_fitness, population[0]


def main():
    return search(CMA_ES), search(Open_ES)
