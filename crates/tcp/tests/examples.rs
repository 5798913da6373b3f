//! The results of the examples.

#[path = "../examples/two_endpoints.rs"]
mod two_endpoints;

#[test]
fn two_endpoints_hand_over_a_text_in_spite_of_losses() {
    two_endpoints::main().unwrap();
}
